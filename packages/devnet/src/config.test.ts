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
      listing: 'local',
    })
    assert.ok(isAbsolute(dataFolder) && dataFolder.endsWith('var'))
  })

  it('reads every setting', () => {
    const config = readDevnetConfig({
      HOST: '0.0.0.0',
      DEVNET_PUBLIC: 'yes',
      PORT: '9000',
      DEVNET_PORT: '0',
      DEVNET_CHAINS: 'arbitrum-sepolia',
      DEVNET_BLOCK_MS: '50',
      DEVNET_ORACLE_DELAY_MS: '0',
      DEVNET_SEED: '4294967295',
      DEVNET_LISTING: 'live',
    })
    assert.equal(config.host, '0.0.0.0')
    assert.deepEqual([config.servicePort, config.port], [9000, 0])
    assert.deepEqual(config.chains, ['arbitrum-sepolia'])
    assert.deepEqual([config.blockMs, config.oracleDelayMs, config.seed], [50, 0, 4_294_967_295])
    assert.equal(config.listing, 'live')
  })

  it('is local unless it is told twice', () => {
    for (const HOST of ['127.0.0.1', '127.1.2.3', '::1', 'localhost'])
      assert.equal(readDevnetConfig({ HOST }).host, HOST)
    for (const HOST of [
      '0.0.0.0',
      '::',
      '192.0.2.1',
      '10.0.0.1',
      '127.0.0.1.example',
      'localhost.example',
      '128.0.0.1',
    ]) {
      assert.throws(() => readDevnetConfig({ HOST }), /^SettingsError: HOST is ".*set DEVNET_PUBLIC=yes as well/)
      assert.equal(readDevnetConfig({ HOST, DEVNET_PUBLIC: 'yes' }).host, HOST)
    }
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
