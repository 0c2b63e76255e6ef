import assert from 'node:assert/strict'
import { it } from 'node:test'
import { PREFIXED_SETTING_NAMES } from '@bezel/protocol'
import { DEVNET_SETTINGS } from '../packages/devnet/src/config.ts'
import { SERVER_SETTINGS } from '../packages/server/src/config.ts'

it('the list of prefixed settings is what the programs read', () => {
  const names = new Set([...Object.keys(SERVER_SETTINGS), ...Object.keys(DEVNET_SETTINGS)])
  const prefixed = [...names].filter((name) => /^(?:BEZEL|DEVNET)_/.test(name))
  assert.deepEqual(prefixed.toSorted(), PREFIXED_SETTING_NAMES.toSorted())
})
