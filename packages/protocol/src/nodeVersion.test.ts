import assert from 'node:assert/strict'
import { it } from 'node:test'
import { nodeVersionProblem } from './nodeVersion.ts'

it('nodeVersionProblem accepts 24 and newer, and says what to do below', () => {
  for (const version of ['v24.0.0', 'v24.21.0', 'v25.1.0', 'v100.0.0'])
    assert.equal(nodeVersionProblem(version), undefined)
  for (const version of ['v20.19.2', 'v22.18.0', 'v2.4.0', '', 'nonsense']) {
    assert.match(nodeVersionProblem(version) ?? '', /^Bezel needs node 24 or newer and this is .*install node 24\.$/)
  }
})
