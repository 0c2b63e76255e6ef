import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { diamondAbi } from '@bezel/protocol'
import { call, type Answer } from '@bezel/testkit/agentClient.ts'
import { createChainClient, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { authorize, createTradingClient, type TradingClient } from '@bezel/testkit/tradingClient.ts'
import { until } from '@bezel/testkit/until.ts'
import type { PopulatedTrader } from '../../contracts/populate.ts'
import { expectLikeChain } from '../../packages/server/src/follower/testing/expectLikeChain.ts'
import { openExistingStore } from '../../packages/server/src/store/openStore.ts'
import type { Store } from '../../packages/server/src/store/sql.ts'
import { lastingPort } from '@bezel/testkit/lastingPort.ts'
import { createKillableService, type KillableService } from '../campaign/killableService.ts'
import { startCountedNode, type CountedNode } from './countedNode.ts'
import { drawTraders, populateChain } from '@bezel/testkit/live/populateChain.ts'

// A chain that many others traded on before the service came. CAMPAIGN=20000 has so many open trades, and then the time
// to READY is judged as well.
const CAMPAIGN = process.env['CAMPAIGN']
const TRADES = Number(CAMPAIGN ?? 1_500)
const MAX_READY_MS = 60_000
const MAX_CALLS_PER_BATCH = 100
/** Number of traders who are compared with the chain, besides the first and the last. */
const SAMPLED = CAMPAIGN === undefined ? 40 : 200

/** Fewer than the empty blocks behind the trades, and than those that are not final. */
const REPLACED_BLOCKS = 40

/** Number of kills at moments that nothing holds. */
const KILLS = CAMPAIGN === undefined ? 0 : 9

const CHAIN = 'arbitrum-sepolia'

/** True for a read of the list of traders that begins with the first one. */
const isFirstPart = ([from]: readonly unknown[]): boolean => from === 0
const isLaterPart = (args: readonly unknown[]): boolean => !isFirstPart(args)

interface Counts {
  readonly trades: number
  readonly requests: number
}

describe(`a snapshot of ${TRADES} trades`, () => {
  let devnet: RunningDevnet
  let chain: ChainClient
  let node: CountedNode
  let service: KillableService
  let traders: readonly PopulatedTrader[]
  let clients: readonly TradingClient[]

  before(async () => {
    devnet = await startDevnet({ DEVNET_BLOCK_MS: '60000' })
    chain = createChainClient(devnet.file)
    await Promise.all([chain.control('bezel_pauseKeeper', true), chain.control('bezel_pauseOracle', true)])
    traders = drawTraders(TRADES, chain.account('trader-1').address, chain.account('trader-2').address)
    await populateChain({ devnet, chain }, traders)
    const described = devnet.file.chains[CHAIN]!
    node = await startCountedNode(described.rpcUrl.replace(/\/$/, ''))
    const chainsFile = join(devnet.folder, 'populated.json')
    const { startBlock: _, ...entry } = { startBlock: undefined, ...described, rpcUrl: node.url }
    writeFileSync(chainsFile, JSON.stringify({ chains: { [CHAIN]: entry }, feedUrl: devnet.file.feedUrl }))
    const port = await lastingPort()
    service = createKillableService(port, {
      BEZEL_DATA: devnet.folder,
      BEZEL_CHAINS_FILE: chainsFile,
      BEZEL_IP_LIMIT: '1000000',
      BEZEL_HEAD_POLL_MS: '200',
    })
  })
  after(async () => {
    await node?.close()
    await service?.close()
    await devnet?.stop()
  })

  const url = (): string => service.url
  const knownSince = async (): Promise<number | undefined> => (await call(url(), `/v1/${CHAIN}`)).body.knownSince?.block

  /** Registers a trader as its own agent, which takes no transaction. */
  async function connect(name: string): Promise<TradingClient> {
    const trader = chain.account(name)
    await authorize({ chain, url }, trader, trader)
    return createTradingClient({ devnet, chain, url }, trader, trader)
  }

  /** Asks for everything that a bot would take for an empty account. */
  async function privateReads(client: TradingClient): Promise<Answer[]> {
    const { address } = client.trader
    const info = (type: string): Promise<Answer> => {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ type, user: address })
      return call(url(), `/hl/${CHAIN}/info`, { method: 'POST', headers, body })
    }
    return Promise.all([
      client.account('/positions', 'listPositions'),
      client.account('/orders', 'listOpenOrders'),
      client.account('', 'getAccount'),
      info('clearinghouseState'),
      info('frontendOpenOrders'),
    ])
  }

  /** Reads the ids of a trader's positions and open orders. */
  async function readIds(client: TradingClient): Promise<string[]> {
    const [positions, orders] = await privateReads(client)
    const items: { id: string }[] = [...positions!.body.data, ...orders!.body.data]
    return items.map(({ id }) => id)
  }

  async function assertNothingToldYet(): Promise<void> {
    assert.equal((await call(url(), '/ready')).body.chains[CHAIN].reason, 'snapshot')
    for (const client of clients) {
      for (const { status, body } of await privateReads(client)) {
        assert.deepEqual([status, body.code, body.details?.reason], [503, 'NOT_READY', 'snapshot'])
      }
    }
  }

  /** Replaces the block of the snapshot with all that come after it, and some before it. */
  async function replaceBlocks(): Promise<void> {
    await chain.control('bezel_reorg', REPLACED_BLOCKS, 'remine')
  }

  async function readChainCounts(): Promise<Counts> {
    const sums = { trades: 0, requests: 0 }
    for (const [type, kind] of ['trades', 'requests'].entries()) {
      for (let from = 0; from < traders.length; from += 1_000) {
        const of = traders.slice(from, from + 1_000).map(({ trader }) => trader)
        const args = [of, type] as const
        const read = { address: chain.diamond, abi: diamondAbi, functionName: 'getCountersForTraders', args } as const
        const counters = await chain.client.readContract(read)
        sums[kind as keyof Counts] += counters.reduce((sum, { openCount }) => sum + openCount, 0)
      }
    }
    return sums
  }

  async function readStoredCounts({ read }: Store): Promise<Counts> {
    const count = async (text: string): Promise<number> =>
      Number((await read.get<{ count: bigint }>(`select count(*) as count from ${text}`))!.count)
    const positions = await count(`positions where is_open = 1`)
    const resting = await count(`orders where status = 'open'`)
    const asked = await count(`orders where status in ('pending', 'timed_out')`)
    return { trades: positions + resting, requests: asked }
  }

  /** Compares counts of everything, and all of some traders, with the Diamond's own views. */
  async function assertLikeChain(): Promise<void> {
    const store = await openExistingStore(devnet.folder)
    try {
      const counts = await readChainCounts()
      assert.equal(counts.trades, TRADES)
      assert.deepEqual(await readStoredCounts(store), counts)
      const step = Math.ceil(traders.length / SAMPLED)
      const sample = traders.filter((_, i) => i % step === 0 || i === traders.length - 1)
      for (const { trader } of sample) await expectLikeChain(store, chain, trader)
    } finally {
      await store.close()
    }
  }

  it('tells nothing before it is whole, goes on after a kill, and begins anew where its block is replaced', async () => {
    const fees = node.keepBack('getTradeFeesDataArray')
    service.start()
    await Promise.all([fees.sent, service.once('listening')])
    clients = await Promise.all([connect('trader-1'), connect('trader-2')])
    await assertNothingToldYet()
    await service.kill()
    fees.letGo()

    const secondPart = node.keepBack('getTraders', isLaterPart)
    service.start()
    const [from] = await secondPart.sent
    await assertNothingToldYet()
    await service.kill()
    secondPart.letGo()

    const again = node.keepBack('getTraders')
    service.start()
    assert.deepEqual((await again.sent)[0], from)
    await assertNothingToldYet()

    await replaceBlocks()
    const anew = node.keepBack('getTraders', isFirstPart)
    again.letGo()
    await anew.sent
    await assertNothingToldYet()
    const later = node.keepBack('getTraders', isLaterPart)
    anew.letGo()
    await later.sent
    await service.kill()
    later.letGo()
    await replaceBlocks()
  })

  it('is not harmed by kills at any moment', async () => {
    for (let i = 0; i < KILLS; i += 1) {
      let reads = (i * 7) % 24
      const part = node.keepBack('getTradeFeesDataArray', () => reads-- === 0)
      service.start()
      await part.sent
      part.letGo()
      await sleep(i * 5)
      await service.kill()
      if (i % 3 === 2) await replaceBlocks()
    }
    await replaceBlocks()
  })

  it('is all that is open on the chain', async () => {
    const [earlier, startedMs] = [node.batches.length, performance.now()]
    const anew = node.keepBack('getTraders', isFirstPart)
    service.start()
    await anew.sent
    anew.letGo()
    await service.once('ready')
    const readyMs = Math.round(performance.now() - startedMs)
    const batches = node.batches.slice(earlier)
    const calls = batches.reduce((sum, size) => sum + size, 0)
    console.log(`READY after ${readyMs} ms, ${batches.length} batches with ${calls} calls`)
    assert.ok(calls < 2 * TRADES, `${calls} calls`)
    assert.ok(batches.length < 50 + TRADES / 20, `${batches.length} batches`)
    if (CAMPAIGN !== undefined) assert.ok(readyMs < MAX_READY_MS, `${readyMs} ms`)
    await assertLikeChain()
    assert.deepEqual(service.complaints, [])
  })

  it('is taken again when its block is replaced, and then says the same', async () => {
    const told = await Promise.all(clients.map(readIds))
    assert.ok(told.flat().length >= 6)
    const block = await knownSince()
    await replaceBlocks()
    await until('the snapshot is taken at another block', async (saw) => {
      const since = await knownSince()
      const { status, body } = await call(url(), '/ready')
      saw({ since, body })
      return status === 200 && since !== undefined && since !== block
    })
    assert.deepEqual(await Promise.all(clients.map(readIds)), told)
    await assertLikeChain()
  })

  it('asks for at most a hundred things at once', () => {
    assert.deepEqual(
      node.batches.filter((size) => size > MAX_CALLS_PER_BATCH),
      [],
    )
  })
})
