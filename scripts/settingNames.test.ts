import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
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

for (const [page, table] of Object.entries({
  'docs/operations.md': SERVER_SETTINGS,
  'docs/local-chain.md': DEVNET_SETTINGS,
  'packages/cli/README.md': CLI_SETTINGS,
})) {
  it(`${page} names every setting of its program`, () => {
    const text = readFileSync(page, 'utf8')
    const missing = Object.keys(table).filter((name) => !new RegExp(`\\b${name}\\b`).test(text))
    assert.deepEqual(missing, [])
  })
}
