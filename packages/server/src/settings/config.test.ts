import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { describe, it } from 'node:test'
import { SettingsError } from '@bezel/protocol'
import { readServerConfig } from './config.ts'

describe('readServerConfig', () => {
  it('has the defaults that the documentation names', () => {
    assert.deepEqual(readServerConfig({}), {
      host: '127.0.0.1',
      port: 8080,
      dataFolder: resolve('var'),
      database: undefined,
      roles: ['api', 'follower', 'relayer', 'keeper'],
      redis: undefined,
      chainsFile: resolve('var', 'devnet.json'),
      feedUrl: undefined,
      publicUrl: undefined,
      console: 'on',
      marketsRefreshMs: 10_000,
      marketStatusMs: 2_000,
      repairPauseMs: 1_100,
      quietPriceMs: 60_000,
      unansweredMs: 600_000,
      domainName: 'Bezel Trading API',
      headerPrefix: 'X-Service-',
      ipLimit: 600,
      agentLimit: 300,
      agentWriteLimit: 60,
      registrationLimit: 10,
      maxClaims: 100_000,
      maxPreparedOrders: 20,
      preparedMarketMs: 60_000,
      preparedRestingMs: 300_000,
      unknownHashMs: 10_000,
      accountRefreshMs: undefined,
      headPollMs: 2_000,
      maxConnections: 20_000,
      connectionsPerIp: 250,
      overloadPercent: 95,
      overloadWaitMs: 50,
      streamConnections: 10_000,
      streamConnectionsPerIp: 50,
      eventsKeepDays: 0,
      unsentKeepDays: 0,
      auditIpDays: 90,
      securityContact: undefined,
      relayerKey: undefined,
      relayerKeyFile: undefined,
      facadeSources: 'auto',
      facadeFillWaitMs: 6_000,
      stopNoticeMs: 0,
      stopSpreadMs: 0,
      metrics: 'loopback',
      trustedProxies: 0,
      logLevel: 'info',
    })
  })

  it('takes its time to stop where other nodes can go on', () => {
    const timesOf = (env: Record<string, string>): number[] => {
      const { stopNoticeMs, stopSpreadMs } = readServerConfig(env)
      return [stopNoticeMs, stopSpreadMs]
    }
    const DATABASE_URL = 'postgresql://bezel@127.0.0.1/bezel'
    assert.deepEqual(timesOf({ DATABASE_URL }), [5_000, 10_000])
    assert.deepEqual(timesOf({ DATABASE_URL, BEZEL_STOP_NOTICE_MS: '0', BEZEL_STOP_SPREAD_MS: '7' }), [0, 7])
    assert.deepEqual(timesOf({ BEZEL_STOP_NOTICE_MS: '20' }), [20, 0])
  })

  it('looks for the chains file in the data folder unless told where it is', () => {
    assert.equal(readServerConfig({ BEZEL_DATA: 'd' }).chainsFile, resolve('d', 'devnet.json'))
    assert.equal(readServerConfig({ BEZEL_DATA: 'd', BEZEL_CHAINS_FILE: 'live.json' }).chainsFile, resolve('live.json'))
  })

  it('can serve the clients of the live service', () => {
    const config = readServerConfig({ BEZEL_DOMAIN_NAME: 'Gains Trading API', BEZEL_HEADER_PREFIX: 'X-Gains-' })
    assert.deepEqual([config.domainName, config.headerPrefix], ['Gains Trading API', 'X-Gains-'])
  })

  it('refuses a header prefix that no header may have', () => {
    for (const prefix of ['X-Service', '-', 'X Service-', 'X-Ümlaut-', 'X:-', `X-${'a'.repeat(40)}-`]) {
      assert.throws(() => readServerConfig({ BEZEL_HEADER_PREFIX: prefix }), SettingsError, prefix)
    }
  })

  it('takes the console as on, off, or the origin of another one', () => {
    const read = (text: string) => readServerConfig({ BEZEL_CONSOLE: text }).console
    assert.deepEqual(['on', 'off', ''].map(read), ['on', 'off', 'on'])
    assert.deepEqual(read('https://console.example'), { origin: 'https://console.example' })
    assert.deepEqual(read('http://localhost:3000/'), { origin: 'http://localhost:3000' })
    for (const text of ['yes', 'ON', 'console.example', 'ftp://console.example', 'https://a:b@console.example']) {
      assert.throws(() => read(text), /it must be on, off, or an http or https origin without a path\.$/, text)
    }
    assert.throws(() => read('https://console.example/app'), SettingsError)
  })

  it('takes the roles of a node, of which SQLite needs all', () => {
    const read = (roles: string, url = 'postgresql://127.0.0.1/a') =>
      readServerConfig({ BEZEL_ROLES: roles, DATABASE_URL: url }).roles
    assert.deepEqual(read(''), ['api', 'follower', 'relayer', 'keeper'])
    assert.deepEqual([read('api'), read('keeper, follower')], [['api'], ['follower', 'keeper']])
    for (const text of ['leader', 'api,', 'api follower', 'API']) {
      assert.throws(() => read(text), /it must be one or more of api, follower, relayer, keeper, separated by/, text)
    }
    assert.throws(() => read('api,keeper', ''), /leaves out follower, relayer, but the data is in SQLite/)
    assert.deepEqual(read('relayer,keeper,api,follower', '').length, 4)
  })

  it('refuses an unknown log level', () => {
    assert.throws(
      () => readServerConfig({ LOG_LEVEL: 'loud' }),
      /one of fatal, error, warn, info, debug, trace, silent\.$/,
    )
  })
})
