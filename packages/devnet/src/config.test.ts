import assert from 'node:assert/strict'
import { isAbsolute } from 'node:path'
import { describe, it } from 'node:test'
import { CHAIN_SLUGS, SettingsError } from '@bezel/protocol'
import { readDevnetConfig } from './config.ts'

describe('readDevnetConfig', () => {
  it('has the defaults that the documentation names', () => {
    const { dataFolder, ...rest } = readDevnetConfig({})
    assert.deepEqual(rest, {
      host: '127.0.0.1',
      port: 8545,
      servicePort: 8080,
      chains: CHAIN_SLUGS,
      blockMs: 250,
      oracleDelayMs: 1000,
      seed: 1,
    })
    assert.ok(isAbsolute(dataFolder) && dataFolder.endsWith('var'))
  })

  it('reads every setting', () => {
    const config = readDevnetConfig({
      HOST: '0.0.0.0',
      PORT: '9000',
      DEVNET_PORT: '0',
      DEVNET_CHAINS: 'arbitrum-sepolia',
      DEVNET_BLOCK_MS: '50',
      DEVNET_ORACLE_DELAY_MS: '0',
      DEVNET_SEED: '4294967295',
    })
    assert.equal(config.host, '0.0.0.0')
    assert.deepEqual([config.servicePort, config.port], [9000, 0])
    assert.deepEqual(config.chains, ['arbitrum-sepolia'])
    assert.deepEqual([config.blockMs, config.oracleDelayMs, config.seed], [50, 0, 4_294_967_295])
  })

  it('refuses values out of range', () => {
    for (const env of [
      { DEVNET_BLOCK_MS: '9' },
      { DEVNET_PORT: '65536' },
      { DEVNET_CHAINS: 'moon' },
      { DEVNET_BLOCKMS: '250' },
    ]) {
      assert.throws(() => readDevnetConfig(env), SettingsError)
    }
  })
})
