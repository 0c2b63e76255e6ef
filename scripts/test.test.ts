import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'

it('npm test says so when no test file fits its filter', () => {
  const script = fileURLToPath(new URL('./test.ts', import.meta.url))
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, 'no-such-test'], { encoding: 'utf8' })
  assert.deepEqual([status, stdout, stderr], [1, '', 'No test file has no-such-test in its path.\n'])
})
