import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { generateMnemonic, english, generatePrivateKey } from 'viem/accounts'
import { UsageError } from '../errors/cliError.ts'
import { typedOptions, type OptionTable, refuseSecrets } from './readOptions.ts'

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

describe('refuseSecrets', () => {
  const key = generatePrivateKey()

  it('refuses what looks like a key, wherever it stands, and does not repeat it', () => {
    const bare = key.slice(2)
    for (const argv of [
      [key],
      ['order', bare],
      ['--name', key],
      [`--name=${key}`],
      [key.slice(0, -1)],
      [bare.toUpperCase()],
      [`x${key}y`],
    ]) {
      assert.throws(
        () => refuseSecrets(argv),
        (error) =>
          error instanceof UsageError &&
          !error.message.toLowerCase().includes(bare.slice(0, 20)) &&
          /never taken from arguments/.test(error.message),
        argv.join(' '),
      )
    }
  })

  it('refuses a recovery phrase, and options that would take a secret', () => {
    assert.throws(() => refuseSecrets([generateMnemonic(english)]), UsageError)
    for (const option of [
      '--private-key',
      '--privateKey=abc',
      '--password',
      '--api-key=bz_1',
      '--agent-key',
      '--mnemonic',
    ]) {
      assert.throws(
        () => refuseSecrets(['agent', 'status', option]),
        (error) => error instanceof UsageError && !error.message.includes('abc') && !error.message.includes('bz_1'),
      )
    }
  })

  it('lets addresses, sizes and names pass', () => {
    refuseSecrets(['order', 'BTC/USD', 'long', '0.02', '--leverage', '10', '--client-id', 'a'.repeat(50)])
    refuseSecrets(['agent', 'status', '0x4082c833EC182979622b4c14184d6C0EeeafDd7A', '--name', 'my first bot for tests'])
  })
})
