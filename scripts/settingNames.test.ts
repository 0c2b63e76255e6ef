import assert from 'node:assert/strict'
import { it } from 'node:test'
import { PREFIXED_SETTING_NAMES } from '@bezel/protocol'
import { CLI_SETTINGS } from '../packages/cli/src/connection/settings.ts'
import { DEVNET_SETTINGS } from '../packages/devnet/src/config.ts'
import { SERVER_SETTINGS } from '../packages/server/src/settings/config.ts'

it('the list of prefixed settings is what the programs read', () => {
  const names = new Set([SERVER_SETTINGS, DEVNET_SETTINGS, CLI_SETTINGS].flatMap((table) => Object.keys(table)))
  const prefixed = [...names].filter((name) => /^(?:BEZEL|DEVNET)_/.test(name))
  assert.deepEqual(prefixed.toSorted(), PREFIXED_SETTING_NAMES.toSorted())
})
