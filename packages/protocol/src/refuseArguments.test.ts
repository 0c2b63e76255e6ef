import assert from 'node:assert/strict'
import { it } from 'node:test'
import { refuseArguments } from './refuseArguments.ts'
import { StartupError } from './startupError.ts'

it('refuses an argument by its name and takes none', () => {
  refuseArguments(['node', 'main.ts'])
  assert.throws(() => refuseArguments(['node', 'main.ts', '--nonsense']), StartupError)
  assert.throws(() => refuseArguments(['node', 'main.ts', '--nonsense']), /"--nonsense"/)
})
