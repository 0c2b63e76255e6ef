import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { typedOptions, type OptionTable } from './readOptions.ts'

const TABLE: OptionTable = {
  as: { type: 'string', what: 'accounts' },
  keystore: { type: 'string', what: 'file' },
  json: { type: 'boolean', what: 'JSON' },
}

const typed = (...argv: string[]): string[] => typedOptions(argv, TABLE, ['as', 'keystore', 'json'])

describe('typedOptions', () => {
  it('returns options as they were typed, wherever they stand, and nothing else', () => {
    assert.deepEqual(typed('--as', 'trader-2', 'order', '--json', '--size', '3', '--keystore=./bot.json'), [
      '--as trader-2',
      '--keystore ./bot.json',
    ])
    assert.deepEqual(typed('order', '--keystore'), [])
  })

  it('quotes what a shell would understand otherwise', () => {
    assert.deepEqual(typed('--keystore', "my bot's; key.json"), [String.raw`--keystore 'my bot'\''s; key.json'`])
  })
})
