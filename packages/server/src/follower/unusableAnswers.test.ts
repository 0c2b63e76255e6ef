import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { until } from '@bezel/testkit/until.ts'
import { createProviders, type Providers } from '../chain/providers/providers.ts'
import { depthFinality } from '../chain/finality.ts'
import type { RpcCall } from '../chain/rpcClient.ts'
import { createChainHead } from '../journal/clock.ts'
import { openTestLog } from '../journal/testing/testLog.ts'
import { chainMarkets } from '../market/testing/fixtures.ts'
import { startFollower, type Follower } from './startFollower.ts'
import { openFollowedFake, SERVED, type FollowedFake } from './testing/followedFake.ts'
import { BOB, requested } from './testing/handMade.ts'

const OTHER = '0x00000000000000000000000000000000000000e2'

describe('a followed provider whose answers arrive and can not be used, beside a well one', () => {
  let fake: FollowedFake
  let servers: Server[]
  let providers: Providers
  let follower: Follower | undefined
  /** The changes that the first provider makes to its lists of logs. */
  let lie: ((logs: readonly object[]) => unknown) | undefined

  beforeEach(async () => {
    fake = await openFollowedFake()
    for (let i = 0; i < 3; i += 1) fake.node.mine()
    lie = undefined
    servers = [await serve((logs) => (lie === undefined ? logs : lie(logs))), await serve((logs) => logs)]
    const settings = servers.map((server) => ({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    }))
    providers = createProviders({ settings, timeoutMs: 60_000, maxBehind: 20 })
  })
  afterEach(async () => {
    await follower?.close()
    providers.close()
    for (const server of servers) {
      server.close()
      server.closeAllConnections()
    }
    await fake.opened.remove()
  })

  /** Serves the made-up chain, with the lists of logs as a provider gives them. */
  async function serve(given: (logs: readonly object[]) => unknown): Promise<Server> {
    const server = createServer(async (request, response) => {
      let text = ''
      for await (const chunk of request) text += String(chunk)
      const calls = JSON.parse(text) as (RpcCall & { readonly id: number })[]
      const outcomes = await fake.node.client.batch(calls)
      const answers = outcomes.map((outcome, at) => {
        const { id, method } = calls[at]!
        if (!outcome.ok) return { id, error: outcome }
        return { id, result: method === 'eth_getLogs' ? given(outcome.result as object[]) : outcome.result }
      })
      response.end(JSON.stringify(answers))
    })
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    return server
  }

  function start(): Follower {
    const head = createChainHead()
    follower = startFollower({
      head,
      chain: SERVED,
      client: providers.followerClient(head.current),
      store: fake.opened.store,
      accountLog: openTestLog(fake.opened.store, SERVED.slug, undefined, () => fake.nowMs),
      markets: () => chainMarkets(),
      finality: depthFinality(16),
      startBlock: 0,
      pollMs: 5,
      now: () => fake.nowMs,
      log: { info() {}, warn() {}, error() {} } as never,
    })
    return follower
  }

  for (const [told, lied] of [
    ['logs of another contract', (logs: readonly object[]) => logs.map((log) => ({ ...log, address: OTHER }))],
    ['logs that are told twice', (logs: readonly object[]) => [...logs, ...logs]],
    ['no list where one of logs is due', () => null],
  ] as const) {
    it(`is left, and the chain is followed on: ${told}`, async () => {
      const { head, reason } = start()
      await until('the chain is followed', () => reason() === undefined)
      lie = lied
      fake.node.mine({ from: BOB, events: [requested()] })
      fake.node.mine()
      await until('the head moves on', (saw) => {
        saw(head()?.number)
        return head()?.number === 4
      })
      const [first, second] = providers.statuses()
      assert.deepEqual([first?.state, second?.state], ['incomplete', 'ok'])
      assert.match(first!.reason!, /can't be used/)
    })
  }
})
