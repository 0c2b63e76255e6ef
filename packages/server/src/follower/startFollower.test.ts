import { createChainHead } from '../journal/clock.ts'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocketServer, type WebSocket } from 'ws'
import { openTestLog } from '../journal/testing/testLog.ts'
import { chainMarkets } from '../market/testing/fixtures.ts'
import { isTimeoutKnown } from '../trading/orders/orderModel.ts'
import { depthFinality } from '../chain/finality.ts'
import { maxLagBlocks, startFollower, type Follower, type FollowerOptions } from './startFollower.ts'
import { createFakeDiamond } from './testing/fakeDiamond.ts'
import { openFollowedFake, SERVED, type FollowedFake } from './testing/followedFake.ts'
import { ALICE, BOB, chainTrade } from './testing/handMade.ts'

describe('the follower of a chain', () => {
  let fake: FollowedFake
  let follower: Follower | undefined
  let logged: string[]

  beforeEach(async () => {
    fake = await openFollowedFake()
    logged = []
    for (let i = 0; i < 3; i += 1) fake.node.mine()
  })
  afterEach(async () => {
    await follower?.close()
    await fake.opened.remove()
  })

  function start(options: Partial<FollowerOptions> = {}): Follower {
    const note = (level: string) => (_at: unknown, text: string) => logged.push(`${level}: ${text}`)
    follower = startFollower({
      head: createChainHead(),
      chain: SERVED,
      client: fake.node.client,
      store: fake.opened.store,
      accountLog: openTestLog(fake.opened.store, SERVED.slug, undefined, () => fake.nowMs),
      markets: () => chainMarkets(),
      finality: depthFinality(16),
      startBlock: 0,
      pollMs: 5,
      now: () => fake.nowMs,
      log: { info: note('info'), warn: note('warn'), error: note('error') } as never,
      ...options,
    })
    return follower
  }

  async function until(isSo: () => boolean): Promise<void> {
    for (const deadlineMs = Date.now() + 120_000; !isSo(); await sleep(2)) {
      if (Date.now() > deadlineMs) throw new Error('it did not come to that')
    }
  }

  it('is starting until it has caught up, then follows by asking', async () => {
    const { reason, head } = start()
    assert.equal(reason(), 'starting')
    await until(() => reason() === undefined)
    assert.equal(head()?.number, 2)
    fake.node.mine()
    await until(() => head()?.number === 3)
    assert.equal(follower?.stats().blocksApplied, 4)
  })

  it('waits for the markets, with the clock of the last run', async () => {
    const first = start()
    await until(() => first.reason() === undefined)
    await first.close()
    const known: { markets?: ReturnType<typeof chainMarkets> } = {}
    const again = start({ markets: () => known.markets })
    await until(() => again.clock().headBlock === 2)
    fake.node.mine()
    await sleep(30)
    assert.equal(again.head()?.number, 2)
    assert.equal(again.reason(), 'starting')
    assert.equal(isTimeoutKnown(again.clock()), false)
    known.markets = chainMarkets()
    await until(() => again.reason() === undefined)
    const headMs = again.head()?.timestampMs
    assert.deepEqual(again.clock(), { nowMs: fake.nowMs, headBlock: 3, headMs, timeoutBlocks: 200 })
  })

  it('is lagging when the node is silent for more than 10 seconds, and recovers', async () => {
    const { reason, head } = start()
    await until(() => reason() === undefined)
    fake.node.isAway = true
    await until(() => logged.includes('warn: the chain could not be followed'))
    fake.nowMs += 9_000
    assert.equal(reason(), undefined)
    fake.nowMs += 2_000
    assert.equal(reason(), 'chain_lagging')
    fake.node.isAway = false
    fake.node.mine()
    await until(() => head()?.number === 3)
    await until(() => reason() === undefined)
    assert.ok(logged.includes('info: the chain is followed again'))
    assert.equal(logged.filter((line) => line.startsWith('warn')).length, 1, 'a failure is told once')
  })

  it('believes a node that answers with the same head for long', async () => {
    const { reason } = start()
    await until(() => reason() === undefined)
    for (let i = 0; i < 5; i += 1) {
      fake.nowMs += 9_000
      const seen = fake.node.batches.length
      await until(() => fake.node.batches.length > seen + 1)
      assert.equal(reason(), undefined)
    }
  })

  it('says so when a reorganisation is too deep, and does not crash', async () => {
    for (let i = 0; i < 40; i += 1) fake.node.mine()
    const { reason, head } = start()
    await until(() => reason() === undefined)
    fake.node.rewind(30)
    for (let i = 0; i < 40; i += 1) fake.node.mine()
    await until(() => reason() === 'reorg_too_deep')
    assert.equal(head()?.number, 42)
    assert.ok(logged.some((line) => line.startsWith('error')))
  })

  it('tells how far a snapshot is', async () => {
    const diamond = createFakeDiamond()
    diamond.traders.push(ALICE, BOB)
    diamond.trades.push(chainTrade(), chainTrade({ user: BOB }))
    const { reason, snapshotProgress } = start({
      startBlock: undefined,
      client: diamond.over(fake.node.client),
      tradersPerPart: 1,
    })
    assert.equal(snapshotProgress(), undefined)
    await until(() => reason() === undefined)
    assert.deepEqual(snapshotProgress(), { block: 2, listed: 2, read: 2 })
    assert.ok(logged.includes('info: traders are read for the snapshot'))
  })

  it('may be as far behind as its chain goes in 15 seconds', () => {
    assert.equal(maxLagBlocks('arbitrum', undefined), 60)
    assert.equal(maxLagBlocks('base', 1_800), 7)
    assert.equal(maxLagBlocks('base', 14_400), 60, 'a local chain is quicker')
    assert.equal(maxLagBlocks('arbitrum', 60), 60, 'and its clock may be moved')
  })

  it('is woken by heads, and asks while the socket is away', async () => {
    const server = new WebSocketServer({ port: 0 })
    const sockets: WebSocket[] = []
    server.on('connection', (socket) => {
      sockets.push(socket)
      socket.on('message', () => socket.send('{"jsonrpc":"2.0","id":1,"result":"0x1"}'))
    })
    const { port } = server.address() as { port: number }
    try {
      const { reason, head } = start({ chain: { ...SERVED, wsUrls: [`ws://127.0.0.1:${port}`] }, pollMs: 100 })
      await until(() => reason() === undefined && sockets.length === 1)
      await sleep(250)
      const seen = fake.node.batches.length
      await sleep(300)
      assert.ok(fake.node.batches.length - seen <= 1, 'it does not ask while the socket is there')
      fake.node.mine()
      sockets[0]!.send('{"jsonrpc":"2.0","method":"eth_subscription","params":{}}')
      await until(() => head()?.number === 3)
      sockets[0]!.terminate()
      await sleep(20)
      fake.node.mine()
      await until(() => head()?.number === 4)
      await until(() => sockets.length === 2)
    } finally {
      await follower?.close()
      for (const socket of sockets) socket.terminate()
      server.close()
    }
  })
})
