import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createChainClient, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { startService, type RunningService } from '@bezel/testkit/startService.ts'
import { authorize, createTradingClient, type TradingClient } from '@bezel/testkit/tradingClient.ts'
import { until } from '@bezel/testkit/until.ts'
import { startCountedNode, type AskedCall, type CountedNode } from './countedNode.ts'

// The calls that a day costs, of two providers together. Each kind of work is seen at least once and costs what its
// dearest turn did; how many turns a day has follows from its interval, and that of blocks from a quarter of a second.
// So nothing depends on how quick the machine is.

const CHAIN = 'arbitrum-sepolia'

/**
 * Traders who are active while calls are counted. One round each 30 s looks at all of them with one call, so the first
 * costs 2,880 calls a day and each further one none.
 */
const ACTIVE = ['trader-1', 'trader-2']
const CALLS_PER_TRADER = 2_000

const DAY_S = 86_400
const BLOCKS_A_DAY = 4 * DAY_S
const PROVIDERS = 2

/** Number of blocks that are followed at least while calls are counted. */
const COUNTED_BLOCKS = 120

/** Work of the service, by the calls of a batch; `intervalS` is the default of a live chain. */
const WORK = {
  look: { intervalS: { pushed: 10, asked: 2 }, isIt: (calls: Calls) => calls.some(isNewestHeader) },
  second: { intervalS: { pushed: 10, asked: 2 }, isIt: (calls: Calls) => calls.every(isOf('eth_getLogs')) },
  heads: { intervalS: { pushed: 30, asked: 30 }, isIt: (calls: Calls) => calls.every(isOf('eth_blockNumber')) },
  confirm: { intervalS: { pushed: 15, asked: 15 }, isIt: (calls: Calls) => calls.every(isOf('eth_getBlockByNumber')) },
  proof: {
    intervalS: { pushed: 30, asked: 30 },
    isIt: (calls: Calls) => has(calls, 'eth_call') && has(calls, 'eth_getBlockByNumber'),
  },
  accounts: { intervalS: { pushed: 30, asked: 30 }, isIt: (calls: Calls) => calls.some(isViewOfNewest) },
  markets: { intervalS: { pushed: 10, asked: 10 }, isIt: (calls: Calls) => has(calls, 'eth_call') },
  relayer: { intervalS: { pushed: 45, asked: 45 }, isIt: (calls: Calls) => has(calls, 'eth_getTransactionCount') },
} as const

/** Seconds between two questions for the final block, which join other batches. */
const FINALITY_S = 15

/** Seconds between two questions to a provider for its chain, which join other batches. */
const CHAIN_CHECK_S = 30

/**
 * Calls of a comparison of trades, and seconds between two, too long to wait for: counters, three lists, and for each
 * of the two the block.
 */
const COMPARISON = { calls: 6, intervalS: 300 }

/** Number of batches that one turn of a kind of work has at most, with both providers; one where nothing is said. */
const BATCHES_A_TURN: Partial<Record<Kind, number>> = { proof: 2, heads: 2, confirm: 2 }

/** Work that goes on while nobody is there. */
const ALWAYS: readonly Kind[] = ['look', 'second', 'heads', 'confirm', 'proof', 'markets', 'relayer']

type Calls = readonly AskedCall[]
type Kind = keyof typeof WORK
type Mode = 'pushed' | 'asked'

const isOf =
  (method: string) =>
  (asked: AskedCall): boolean =>
    asked.method === method
const has = (calls: Calls, method: string): boolean => calls.some(isOf(method))
/** Calls that join other batches now and then, and are counted by their own interval. */
const joins = ({ method, params }: AskedCall): boolean => method === 'eth_chainId' || params[0] === 'finalized'
/** A round compares a few markets with one call, so several at once are a read of all. */
const isPartOfAllMarkets = (calls: Calls): boolean => calls.length > 1 && calls.every(isOf('eth_call'))
const isNewestHeader = ({ method, params }: AskedCall): boolean =>
  method === 'eth_getBlockByNumber' && params[0] === 'latest'
const isViewOfNewest = ({ method, params }: AskedCall): boolean => method === 'eth_call' && params[1] === 'latest'

interface Count {
  /** Calls of the dearest turn of each kind. */
  readonly dearest: ReadonlyMap<Kind, number>
  /** Calls of all other batches, which blocks led to. */
  readonly ofBlocks: number
}

/**
 * Counts batches by the kind of work that they are. Turns of different kinds that fall on one moment share a batch;
 * such a batch is known by being exactly the cheapest turns of several kinds, and none of them is dearer for it.
 */
function countOf(batches: readonly Calls[]): Count {
  const counted = batches.map((asked) => asked.filter((one) => !joins(one))).filter(({ length }) => length > 0)
  const cheapest = new Map<Kind, Calls>()
  for (const calls of counted) {
    const kind = kindOf(calls)
    if (kind === undefined) continue
    const known = cheapest.get(kind)
    if (known === undefined || calls.length < known.length) cheapest.set(kind, calls)
  }

  const shared = new Set(unionsOf([...cheapest.values()]).map(namesOf))
  const dearest = new Map([...cheapest].map(([kind, { length }]) => [kind, length]))
  let ofBlocks = 0
  for (const calls of counted) {
    if (shared.has(namesOf(calls))) continue
    const kind = kindOf(calls)
    if (kind === undefined) ofBlocks += calls.length
    else dearest.set(kind, Math.max(dearest.get(kind)!, calls.length))
  }
  return { dearest, ofBlocks }
}

function kindOf(calls: Calls): Kind | undefined {
  return (Object.keys(WORK) as Kind[]).find((kind) => WORK[kind].isIt(calls))
}

/** Returns what any of these batches have together, single ones among them. */
function unionsOf(parts: readonly Calls[]): Calls[] {
  return parts.reduce<Calls[]>((unions, part) => [...unions, ...unions.map((union) => [...union, ...part])], [[]])
}

/** The methods of calls and whether they are of the newest block, in one order. */
function namesOf(calls: Calls): string {
  const names = calls.map(({ method, params }) => `${method} ${params.includes('latest') ? 'latest' : ''}`)
  return names.toSorted().join()
}

/** Returns the calls that a kind of work costs in a day when its dearest batch has so many. */
function workADay(kind: Kind, calls: number, mode: Mode): number {
  return calls * (BATCHES_A_TURN[kind] ?? 1) * (DAY_S / WORK[kind].intervalS[mode])
}

function callsADay({ dearest, ofBlocks }: Count, blocks: number, mode: Mode): number {
  const rounds = [...dearest].map(([kind, calls]) => workADay(kind, calls, mode))
  const joined = DAY_S / Math.max(FINALITY_S, WORK.look.intervalS[mode]) + (PROVIDERS * DAY_S) / CHAIN_CHECK_S
  const compared = (COMPARISON.calls * DAY_S) / COMPARISON.intervalS
  return Math.ceil(rounds.reduce((sum, calls) => sum + calls, joined + compared + (ofBlocks / blocks) * BLOCKS_A_DAY))
}

describe('the count of calls', () => {
  const look = callsOf(['eth_getBlockByNumber', 'latest'], ['eth_getBlockByNumber', '0x1'], ['eth_getLogs', {}])
  const markets = callsOf(['eth_call', {}, '0x1'])
  const confirm = callsOf(['eth_getBlockByNumber', '0x2'])
  const heads = callsOf(['eth_blockNumber'])

  it('has kinds of work that share a batch for what they cost alone', () => {
    const alone = [look, markets, confirm, heads]
    const shared = [[...look, ...markets], [...heads, ...confirm], alone.flat()]
    const { dearest, ofBlocks } = countOf([...alone, ...shared])
    assert.deepEqual(Object.fromEntries(dearest), { look: 3, markets: 1, confirm: 1, heads: 1 })
    assert.equal(ofBlocks, 0)
  })

  it('has a kind for its dearest turn, and for blocks what is of no kind', () => {
    const dearer = [...look, ...callsOf(['eth_getBalance', '0x1', 'latest'])]
    const { dearest, ofBlocks } = countOf([look, dearer, look, callsOf(['eth_getCode', '0x1', '0x2'])])
    assert.deepEqual(Object.fromEntries(dearest), { look: 4 })
    assert.equal(ofBlocks, 1)
  })

  function callsOf(...calls: readonly (readonly [string, ...unknown[]])[]): Calls {
    return calls.map(([method, ...params]) => ({ method, params }))
  }
})

describe('the calls that a chain without trades costs in a day', () => {
  let devnet: RunningDevnet
  let chain: ChainClient
  const nodes: CountedNode[] = []
  let service: RunningService | undefined
  const folders: string[] = []

  before(async () => {
    devnet = await startDevnet({ DEVNET_BLOCK_MS: '250' })
    chain = createChainClient(devnet.file)
    const target = devnet.file.chains[CHAIN]!.rpcUrl.replace(/\/$/, '')
    while (nodes.length < PROVIDERS) nodes.push(await startCountedNode(target))
  })
  after(async () => {
    await service?.stop()
    for (const node of nodes) await node.close()
    await devnet?.stop()
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })

  /** Starts the service anew over the counted nodes, with the intervals of a live chain where they matter. */
  async function start(mode: Mode): Promise<() => string> {
    await service?.stop()
    const folder = mkdtempSync(join(tmpdir(), 'bezel-calls-'))
    folders.push(folder)
    const { wsUrl, rpcUrl: _, ...described } = devnet.file.chains[CHAIN]!
    const rpcUrls = nodes.map(({ url }) => url)
    const entry = { ...described, rpcUrls, finality: 'tag', ...(mode === 'pushed' ? { wsUrl } : {}) }
    const chainsFile = join(folder, 'chains.json')
    writeFileSync(chainsFile, JSON.stringify({ chains: { [CHAIN]: entry }, feedUrl: devnet.file.feedUrl }))
    const started = await startService(devnet, { BEZEL_DATA: folder, BEZEL_CHAINS_FILE: chainsFile })
    service = started
    return () => started.url
  }

  /**
   * Counts calls until enough blocks came and every wanted kind of work had its turn. All markets are read at a start,
   * and once more ten seconds later when the follower was not at that block yet; after that counting begins anew.
   */
  async function count(wanted: readonly Kind[], meanwhile: () => Promise<unknown>): Promise<[Count, number]> {
    const newest = async (): Promise<number> => Number(await chain.client.getBlockNumber({ cacheTime: 0 }))
    const length = (): number[] => nodes.map(({ asked }) => asked.length)
    let [from, first] = [length(), await newest()]
    return until('all work had its turn', async (saw) => {
      await meanwhile()
      const asked = nodes.flatMap((node, at) => node.asked.slice(from[at]))
      const blocks = (await newest()) - first
      if (asked.some(isPartOfAllMarkets)) {
        ;[from, first] = [length(), await newest()]
        saw('a read of all markets')
        return undefined
      }
      const counted = countOf(asked)
      saw(`${blocks} blocks, ${[...counted.dearest.keys()].join()}`)
      const isDone = blocks >= COUNTED_BLOCKS && wanted.every((kind) => counted.dearest.has(kind))
      return isDone ? [counted, blocks] : undefined
    })
  }

  function tell(mode: string, { dearest, ofBlocks }: Count, blocks: number, total: number): void {
    const kinds = [...dearest].map(([kind, calls]) => `${kind} ${calls}`).join(', ')
    console.log(`${mode}: ${total} calls a day; at once ${kinds}; ${ofBlocks} for ${blocks} blocks`)
  }

  it('are at most 100,000 with a WebSocket, and 2,000 more per active trader when there are two', async () => {
    const url = await start('pushed')
    const [idle, blocks] = await count(ALWAYS, async () => undefined)
    const total = callsADay(idle, blocks, 'pushed')
    tell('with a WebSocket', idle, blocks, total)
    assert.ok(total <= 100_000, `${total} calls a day`)
    assert.ok(!idle.dearest.has('accounts'), 'nobody is active')

    const clients: TradingClient[] = []
    for (const name of ACTIVE) {
      const trader = chain.account(name)
      await authorize({ chain, url }, trader, trader)
      clients.push(await createTradingClient({ devnet, chain, url }, trader, trader))
    }
    const stayActive = (): Promise<unknown> =>
      Promise.all(clients.map((client) => client.account('/positions', 'listPositions')))
    const [active, more] = await count([...ALWAYS, 'accounts'], stayActive)
    const withTraders = callsADay(active, more, 'pushed')
    tell(`and ${ACTIVE.length} active traders`, active, more, withTraders)
    assert.ok(withTraders <= 102_000, `${withTraders} calls a day`)
    const looks = workADay('accounts', active.dearest.get('accounts')!, 'pushed')
    assert.ok(looks <= ACTIVE.length * CALLS_PER_TRADER, `${looks} calls a day for ${ACTIVE.length} traders`)
  })

  it('are at most 250,000 without one', async () => {
    await start('asked')
    const [idle, blocks] = await count(ALWAYS, async () => undefined)
    const total = callsADay(idle, blocks, 'asked')
    tell('without a WebSocket', idle, blocks, total)
    assert.ok(total <= 250_000, `${total} calls a day`)
  })
})
