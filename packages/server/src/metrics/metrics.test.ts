import type { MetricsExposure } from '../settings/config.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ownDetails } from '@bezel/testkit/ownDetails.ts'
import type { OrderStatus } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import type { AccountStats } from '../accounts/chainAccounts.ts'
import { createInProcessLimits } from '../access/inProcessLimits.ts'
import type { FeedPulse } from '../market/feed/feed.ts'
import { createApp } from '../http/createApp.ts'
import { registerHooks } from '../http/hooks/registerHooks.ts'
import { openTestAddress, openTestStore } from '../store/testing/testStore.ts'
import { countAnswers, createMetrics, type Metrics, countTransactions, serveMetrics } from './createMetrics.ts'
import { watchAccounts, watchDeployment, type ChainSource } from './watchDeployment.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'

/** Returns the lines of a series, without its help text. */
async function series({ registry }: Metrics, name: string): Promise<string[]> {
  return (await registry.metrics()).split('\n').filter((line) => line.startsWith(name))
}

function appWith(exposure: MetricsExposure, limit = 100): { app: FastifyInstance; metrics: Metrics } {
  const app = createApp('silent')
  const metrics = createMetrics()
  countAnswers(app, metrics)
  registerHooks(app, { limits: createInProcessLimits(), limit, trustedProxies: 0, now: () => 0 })
  app.get('/health', { schema: { operationId: 'health' } as object }, async () => ({}))
  app.get('/fault', { schema: { operationId: 'fault' } as object }, async () => {
    throw new Error('broken')
  })
  serveMetrics(app, { metrics, exposure })
  return { app, metrics }
}

describe('metrics of requests', () => {
  it('count by operation and class of status, and time them', async () => {
    const { app, metrics } = appWith('off')
    for (const url of ['/health', '/health', '/fault', '/a', '/b?c=d']) await app.inject(url)
    assert.deepEqual((await series(metrics, 'bezel_http_requests_total')).toSorted(), [
      'bezel_http_requests_total{operation="fault",status="5xx"} 1',
      'bezel_http_requests_total{operation="health",status="2xx"} 2',
      'bezel_http_requests_total{operation="none",status="4xx"} 2',
    ])
    assert.ok(
      (await series(metrics, 'bezel_http_request_duration_seconds_count')).includes(
        'bezel_http_request_duration_seconds_count{operation="health"} 2',
      ),
    )
  })

  it('tell durations as a histogram whose buckets add up', async () => {
    const metrics = createMetrics()
    for (const elapsedMs of [0.5, 0.6, 3, 20_000]) metrics.answered({ operation: 'a', status: 200, elapsedMs })
    const lines = await series(metrics, 'bezel_http_request_duration_seconds')
    const bucket = (le: string): string | undefined => lines.find((line) => line.includes(`le="${le}"`))?.split(' ')[1]
    assert.deepEqual(['0.0005', '0.001', '0.0025', '0.005', '10', '+Inf'].map(bucket), ['1', '2', '2', '3', '3', '4'])
    assert.deepEqual(
      lines.filter((line) => !line.includes('_bucket')),
      [
        'bezel_http_request_duration_seconds_sum{operation="a"} 20.0041',
        'bezel_http_request_duration_seconds_count{operation="a"} 4',
      ],
    )
    assert.match(await metrics.registry.metrics(), /# TYPE bezel_http_request_duration_seconds histogram/)
  })

  it('count refusals of limits by scope', async () => {
    const { app, metrics } = appWith('off', 1)
    for (let i = 0; i < 3; i++) await app.inject('/health')
    assert.deepEqual(await series(metrics, 'bezel_http_rate_limited_total'), [
      'bezel_http_rate_limited_total{scope="ip"} 2',
    ])
  })
})

describe('GET /metrics', () => {
  const statusOf = async (exposure: MetricsExposure, remoteAddress: string, headers = {}): Promise<number> =>
    (await appWith(exposure).app.inject({ url: '/metrics', remoteAddress, headers })).statusCode

  it('answers this machine alone by default', async () => {
    for (const local of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) {
      assert.equal(await statusOf('loopback', local), 200, local)
    }
    for (const other of ['10.0.0.1', '::2', '::ffff:10.0.0.1']) assert.equal(await statusOf('loopback', other), 404)
  })

  it('does not take what a proxy on this machine forwards for local', async () => {
    for (const name of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip']) {
      assert.equal(await statusOf('loopback', '127.0.0.1', { [name]: '127.0.0.1' }), 404, name)
    }
  })

  it('answers everybody or nobody when told so', async () => {
    assert.equal(await statusOf('all', '10.0.0.1'), 200)
    assert.equal(await statusOf('off', '127.0.0.1'), 404)
  })

  it('is in the text format, with the memory of the process', async () => {
    const answer = await appWith('loopback').app.inject('/metrics')
    assert.match(String(answer.headers['content-type']), /^text\/plain; version=0\.0\.4/)
    assert.match(answer.body, /^process_resident_memory_bytes \d+$/m)
  })

  it('refuses in the words of an unknown route', async () => {
    const { app } = appWith('loopback')
    const refused = await app.inject({ url: '/metrics', remoteAddress: '10.0.0.1' })
    const unknown = await app.inject({ url: '/nothing', remoteAddress: '10.0.0.1' })
    const withoutRequest = ({ details, ...words }: { details: unknown }): unknown => [words, ownDetails(details)]
    assert.deepEqual(withoutRequest(refused.json()), withoutRequest(unknown.json()))
  })
})

describe('metrics of the store', () => {
  it('count transactions by how they ended, and change nothing else', async () => {
    const test = openTestStore()
    const metrics = createMetrics()
    const store = countTransactions(test.store, metrics)
    await store.transaction(TEST_SCOPE, async (sql) => sql.run('create table t (a bigint)'))
    await assert.rejects(
      store.transaction(TEST_SCOPE, async (sql) => {
        await sql.run('insert into t (a) values ($1)', 1)
        throw new Error('no')
      }),
      /^Error: no$/,
    )
    assert.deepEqual(await store.read.all('select a from t'), [])
    assert.deepEqual(await series(metrics, 'bezel_store_transactions_total'), [
      'bezel_store_transactions_total{outcome="committed"} 1',
      'bezel_store_transactions_total{outcome="rolled_back"} 1',
    ])
    await test.remove()
  })

  it('tell how long transactions waited, and how often a server was asked', async () => {
    const test = openTestStore()
    // The database exists once it has answered.
    await test.store.read.all('select 1')
    const metrics = createMetrics()
    const store = openTestAddress(test.address, metrics.store)
    await Promise.all([1, 2].map(() => store.transaction(TEST_SCOPE, (sql) => sql.all('select 1'))))
    const [waited] = await series(metrics, 'bezel_store_wait_seconds_total')
    assert.ok(Number(waited?.split(' ')[1]) > 0, waited)
    const [trips] = await series(metrics, 'bezel_store_round_trips_total')
    assert.equal(Number(trips?.split(' ')[1]) > 0, store.read.engine === 'postgres')
    await store.close()
    await test.remove()
  })
})

describe('metrics of the deployment', () => {
  const base: ChainSource = {
    chain: 'base',
    isReady: () => true,
    roundTrips: () => 7,
    head: () => ({ number: 100, timestampMs: 1_500 }),
    finalBlock: () => 36,
    lagBlocks: () => 3,
    undoneBlocks: () => 2,
    openPositions: () => 5,
    marketsLeftOut: () => 3,
    markets: () => ({ reads: 2, differences: 1 }),
    unprovenTraders: () => 2,
    snapshot: () => ({ listed: 40, read: 30 }),
  }
  const starting: ChainSource = {
    ...base,
    chain: 'polygon',
    isReady: () => false,
    head: () => undefined,
    finalBlock: () => undefined,
  }

  it('are read from the parts at each scrape', async () => {
    const metrics = createMetrics()
    let nonces = 1
    const ordersByStatus = (): ReadonlyMap<OrderStatus, number> => new Map([['filled', 3]])
    const pulses: FeedPulse[] = []
    watchDeployment(metrics, {
      chains: [base, starting],
      ordersByStatus,
      noncesRemembered: () => nonces,
      shedRequests: () => 3,
      feedPulse: () => pulses.at(-1),
    })
    assert.deepEqual(await series(metrics, 'bezel_http_shed'), ['bezel_http_shed_total 3'])
    assert.deepEqual(await series(metrics, 'bezel_feed_heard'), ['bezel_feed_heard_timestamp_seconds 0'])
    pulses.push({ heardAtMs: 2_500, pricedAtMs: Number.NEGATIVE_INFINITY })
    assert.deepEqual(await series(metrics, 'bezel_feed_heard'), ['bezel_feed_heard_timestamp_seconds 2.5'])
    assert.deepEqual(await series(metrics, 'bezel_feed_price'), ['bezel_feed_price_timestamp_seconds 0'], 'none yet')
    assert.deepEqual(await series(metrics, 'bezel_nonces_remembered'), ['bezel_nonces_remembered 1'])
    nonces = 9
    assert.deepEqual(await series(metrics, 'bezel_nonces_remembered'), ['bezel_nonces_remembered 9'])
    for (let scrape = 0; scrape < 2; scrape++) {
      assert.deepEqual(await series(metrics, 'bezel_rpc_round_trips_total'), [
        'bezel_rpc_round_trips_total{chain="base"} 7',
        'bezel_rpc_round_trips_total{chain="polygon"} 7',
      ])
    }
    assert.deepEqual(await series(metrics, 'bezel_chain_lag_blocks{chain="base"'), [
      'bezel_chain_lag_blocks{chain="base"} 3',
    ])
    assert.deepEqual(await series(metrics, 'bezel_chain_head_block'), ['bezel_chain_head_block{chain="base"} 100'])
    assert.deepEqual(await series(metrics, 'bezel_chain_final_block'), ['bezel_chain_final_block{chain="base"} 36'])
    assert.deepEqual(await series(metrics, 'bezel_chain_head_timestamp_seconds'), [
      'bezel_chain_head_timestamp_seconds{chain="base"} 1.5',
    ])
    assert.deepEqual(await series(metrics, 'bezel_chain_undone_blocks_total{chain="base"'), [
      'bezel_chain_undone_blocks_total{chain="base"} 2',
    ])
    assert.deepEqual(await series(metrics, 'bezel_open_positions{chain="base"'), [
      'bezel_open_positions{chain="base"} 5',
    ])
    assert.deepEqual(await series(metrics, 'bezel_markets_left_out{chain="base"'), [
      'bezel_markets_left_out{chain="base"} 3',
    ])
    assert.deepEqual(await series(metrics, 'bezel_markets_reads_total{chain="base"'), [
      'bezel_markets_reads_total{chain="base"} 2',
    ])
    assert.deepEqual(await series(metrics, 'bezel_markets_differences_total{chain="base"'), [
      'bezel_markets_differences_total{chain="base"} 1',
    ])
    assert.deepEqual(await series(metrics, 'bezel_unproven_traders{chain="base"'), [
      'bezel_unproven_traders{chain="base"} 2',
    ])
    assert.deepEqual(await series(metrics, 'bezel_snapshot_traders_listed{chain="base"'), [
      'bezel_snapshot_traders_listed{chain="base"} 40',
    ])
    assert.deepEqual(await series(metrics, 'bezel_snapshot_traders_read{chain="base"'), [
      'bezel_snapshot_traders_read{chain="base"} 30',
    ])
    assert.deepEqual(await series(metrics, 'bezel_chain_ready'), [
      'bezel_chain_ready{chain="base"} 1',
      'bezel_chain_ready{chain="polygon"} 0',
    ])
    const orders = await series(metrics, 'bezel_orders')
    assert.equal(orders.length, 8)
    assert.ok(orders.includes('bezel_orders{status="filled"} 3'))
    assert.ok(orders.includes('bezel_orders{status="open"} 0'))
  })
})

describe('the counts of orders', () => {
  it('are not told by a node that leaves it to another', async () => {
    const metrics = createMetrics()
    let isTold = true
    watchDeployment(metrics, {
      chains: [],
      ordersByStatus: () => (isTold ? new Map() : undefined),
      noncesRemembered: () => 0,
      shedRequests: () => 0,
      feedPulse: () => undefined,
    })
    assert.equal((await series(metrics, 'bezel_orders')).length, 8)
    isTold = false
    assert.deepEqual(await series(metrics, 'bezel_orders'), [])
  })
})

describe('metrics of accounts', () => {
  it('are those of the rounds', async () => {
    const metrics = createMetrics()
    const stats: AccountStats[] = [
      { rounds: 3, watched: 7, lastRoundAtMs: 1_500 },
      { rounds: 0, watched: 0, lastRoundAtMs: undefined },
    ]
    const chains = ['base', 'polygon'] as const
    watchAccounts(metrics, new Map(chains.map((chain, at) => [chain, { stats: () => stats[at]! }])))
    for (let scrape = 0; scrape < 2; scrape++) {
      assert.deepEqual(await series(metrics, 'bezel_account'), [
        'bezel_account_rounds_total{chain="base"} 3',
        'bezel_account_rounds_total{chain="polygon"} 0',
        'bezel_accounts_watched{chain="base"} 7',
        'bezel_accounts_watched{chain="polygon"} 0',
        'bezel_account_round_timestamp_seconds{chain="base"} 1.5',
      ])
    }
  })
})
