import { NodeUnavailableError } from '../ground/unavailable.ts'
import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { CHAINS, diamondAbi, Price, type Address, type Hex } from '@bezel/protocol'
import { toEventSelector, type AbiEvent } from 'viem'
import type { ChainBlock, ChainTransaction } from '../chain/blocks.ts'
import type { MarketEvent } from '../chain/marketEvents.ts'
import { createMulticallClient } from '../chain/multicallClient.ts'
import type { RpcClient } from '../chain/rpcClient.ts'
import { until } from '@bezel/testkit/until.ts'
import type { MarketsDifference } from './compareRounds.ts'
import { blockOf, createBlankDiamond, hashOf, type BlankDiamond } from './testing/blankDiamond.ts'
import {
  watchChainMarkets,
  type ChainMarketsWatch,
  type FollowerState,
  type RefreshOutcome,
} from './watchChainMarkets.ts'

/** A node whose answers make no sense. */
const garbled: RpcClient = {
  roundTrips: () => 0,
  batch: async (calls) => calls.map(() => ({ ok: true, result: { number: 'x', timestamp: null } })),
}

function watch(client: RpcClient, verifyChain: () => Promise<void>, diamond: Address = CHAINS.base.liveDiamond) {
  const outcomes: RefreshOutcome[] = []
  const differences: MarketsDifference[] = []
  const clock: { nowMs: number; follower: FollowerState } = { nowMs: 0, follower: 'following' }
  let verified = 0
  let rounds = 0
  const watched = watchChainMarkets({
    client,
    diamond,
    referencePrices: {
      of: async (pairs) => {
        rounds += 1
        return new Map(pairs.map((pairIndex) => [pairIndex, Price.of(100n * Price.one)]))
      },
    },
    verifyChain: () => {
      verified += 1
      return verifyChain()
    },
    now: () => clock.nowMs,
    refreshMs: 5,
    lastFinal: (head) => head - 64,
    followerState: () => clock.follower,
    onRefresh: (outcome) => outcomes.push(outcome),
    onDifference: (difference) => differences.push(difference),
  })
  return { watched, outcomes, differences, clock, verified: () => verified, rounds: () => rounds }
}

describe('watchChainMarkets', () => {
  it('reads nothing before the chain is known to be the right one, and tries again', async () => {
    let batches = 0
    const counting: RpcClient = { ...garbled, batch: (calls) => ((batches += 1), garbled.batch(calls)) }
    const { watched, verified } = watch(counting, () => Promise.reject(new NodeUnavailableError('down')))
    await until('a few tries', () => verified() > 3)
    watched.close()
    assert.deepEqual([batches, watched.current()], [0, undefined])
  })

  it('tells of a failure once, and counts as lagging when it lasts', async () => {
    const { watched, outcomes, clock, verified } = watch(garbled, async () => undefined)
    await until('a few tries', () => verified() > 3)
    assert.deepEqual(
      outcomes.map(({ state }) => state),
      ['failed'],
    )
    assert.equal(watched.isLagging(), false)
    clock.nowMs = 60_000
    assert.equal(watched.isLagging(), true)
    assert.equal(watched.version(), 0)
    watched.close()
  })

  it('stops when it is closed', async () => {
    const { watched, verified } = watch(garbled, async () => undefined)
    await until('a try', () => verified() > 0)
    watched.close()
    const before = verified()
    // A second watch serves as the clock: once it has tried a few times, this one would have too.
    const other = watch(garbled, async () => undefined)
    await until('a few tries of another', () => other.verified() > 3)
    other.watched.close()
    assert.ok(verified() <= before + 1)
  })
})

const topicOf = (name: string): Hex =>
  toEventSelector(diamondAbi.find((entry) => entry.type === 'event' && entry.name === name) as AbiEvent) as Hex

/** Returns a block with one transaction that emitted these events, and logs of these topics. */
function block(number: number, marketEvents: readonly MarketEvent[] = [], topics: readonly Hex[] = []): ChainBlock {
  const transaction: ChainTransaction = {
    hash: hashOf(1_000_000 + number),
    index: 0,
    from: CHAINS.base.liveDiamond,
    to: CHAINS.base.liveDiamond,
    input: '0x' as Hex,
    events: [],
    marketEvents,
    hasLogs: true,
    topics,
    undecoded: [],
  }
  return { block: blockOf(number), transactions: [transaction], senders: new Set() }
}

/** Returns the event after which these are the tokens of longs in a pair, in the first collateral. */
function opened(pairIndex: number, oiLongToken: bigint): MarketEvent {
  const newOiCollateral = { oiLongCollateral: oiLongToken, oiShortCollateral: 0n }
  const deltas = { oiDeltaCollateral: oiLongToken, oiDeltaToken: oiLongToken, open: true, long: true }
  const newOiToken = { oiLongToken, oiShortToken: 0n }
  return {
    name: 'PairOiAfterV10Updated',
    args: { collateralIndex: 1, pairIndex, ...deltas, newOiCollateral, newOiToken },
  }
}

/** Lets the chain have tokens of longs in a pair, in the first collateral. */
function setTokens({ results }: BlankDiamond, pairIndex: number, oiLongToken: bigint): void {
  results.set('getPairOisAfterV10Token', (args, blank) =>
    (blank as readonly { oiLongToken: bigint }[]).map((tokens, at) => {
      const [collaterals, pairs] = args as readonly (readonly number[])[]
      return collaterals![at] === 1 && pairs![at] === pairIndex ? { ...tokens, oiLongToken } : tokens
    }),
  )
}

describe('the markets of a followed chain', () => {
  let closing: ChainMarketsWatch[] = []
  afterEach(() => {
    for (const watched of closing) watched.close()
    closing = []
  })

  async function open(node: BlankDiamond) {
    const begun = watch(createMulticallClient(node.client), async () => undefined, node.diamond)
    closing.push(begun.watched)
    await until('the markets are read', () => begun.watched.current() !== undefined)
    return begun
  }

  const tokensOf = (watched: ChainMarketsWatch, pairIndex: number): bigint =>
    watched.current()!.states.get(1)!.get(pairIndex)!.oiLongToken

  it('cost one call a round, however many pairs there are', async () => {
    for (const pairs of [10, 160]) {
      const node = createBlankDiamond({ pairs, collaterals: 4 })
      const { watched, rounds } = await open(node)
      await watched.note([block(node.head)])
      // A round that had begun before may still read all markets.
      const before = rounds()
      await until('the round under way is over', () => rounds() > before + 1)
      const [from, calls, others] = [rounds(), node.counts.get('eth_call')!, node.counts.get('eth_getBlockByNumber')!]
      await until('ten rounds', () => rounds() >= from + 10)
      for (let n = 1; n <= 100; n += 1) await watched.note([block(node.head + n)])
      const made = node.counts.get('eth_call')! - calls
      assert.ok(Math.abs(made - (rounds() - from)) <= 1, `${made} calls in ${rounds() - from} rounds`)
      assert.equal(node.counts.get('eth_getBlockByNumber'), others, 'blocks cost nothing more')
      watched.close()
    }
  })

  it('are those of the last followed block, and of the one before when it is undone', async () => {
    const node = createBlankDiamond({ pairs: 3, collaterals: 2 })
    const { watched } = await open(node)
    const at = node.head
    await watched.note([block(at)])
    const noted = watched.note([block(at + 1, [opened(2, 5n)]), block(at + 2, [opened(2, 7n)])])
    assert.equal(tokensOf(watched, 2), 7n, 'at once')
    await noted
    assert.equal(watched.current()!.moment.blockNumber, at + 2)
    await watched.noteUndone(blockOf(at + 1))
    assert.deepEqual([tokensOf(watched, 2), watched.current()!.moment.blockNumber], [5n, at + 1])
    await watched.noteUndone(blockOf(at))
    assert.equal(tokensOf(watched, 2), 0n)
  })

  it('are read again when settings change, and when the block that was read is undone', async () => {
    const node = createBlankDiamond({ pairs: 3, collaterals: 2 })
    const { watched } = await open(node)
    await watched.note([block(node.head)])
    const reads = watched.stats().reads
    node.results.set('getTradingActivated', () => 2)
    await watched.note([block(node.head + 1, [], [topicOf('TradingActivatedUpdated')])])
    assert.deepEqual([watched.current()!.tradingActivated, watched.stats().reads], [2, reads + 1])
    node.results.delete('getTradingActivated')
    await watched.noteUndone(blockOf(node.head))
    assert.deepEqual([watched.current()!.tradingActivated, watched.stats().reads], [0, reads + 2])
  })

  it('are read again at the first block after a gap', async () => {
    const node = createBlankDiamond({ pairs: 3, collaterals: 2 })
    const { watched } = await open(node)
    await watched.note([block(node.head)])
    const reads = watched.stats().reads
    watched.noteGap()
    setTokens(node, 2, 9n)
    await watched.note([block(node.head + 3)])
    assert.deepEqual([tokensOf(watched, 2), watched.stats().reads], [9n, reads + 1])
  })

  it('are read again at a block whose events can not be folded, which is told', async () => {
    const node = createBlankDiamond({ pairs: 3, collaterals: 2 })
    const { watched, outcomes } = await open(node)
    await watched.note([block(node.head)])
    const { name } = opened(2, 5n)
    const malformed = { name, args: { collateralIndex: 1, pairIndex: 2 } } as MarketEvent
    setTokens(node, 2, 9n)
    await watched.note([block(node.head + 1, [malformed]), block(node.head + 2)])
    assert.equal(tokensOf(watched, 2), 9n)
    assert.deepEqual(
      outcomes.map(({ state }) => state),
      ['loaded', 'failed', 'recovered'],
    )
  })

  it('are read once at a block that changes settings, also while a slow read from before goes on', async () => {
    const node = createBlankDiamond({ pairs: 3, collaterals: 2 })
    const held = { gate: Promise.resolve(), reads: 0 }
    const client: RpcClient = {
      ...node.client,
      async batch(calls) {
        if (calls.some(({ method }) => method === 'eth_call')) {
          held.reads += 1
          await held.gate
        }
        return node.client.batch(calls)
      },
    }
    const { watched } = await open({ ...node, client })
    const { promise, resolve } = Promise.withResolvers<void>()
    held.gate = promise
    const before = held.reads
    await until('the next round reads all markets again', () => held.reads > before)
    await watched.note([block(node.head)])
    const reads = watched.stats().reads
    const noted = watched.note([block(node.head + 1, [], [topicOf('TradingActivatedUpdated')])])
    resolve()
    await noted
    assert.equal(watched.stats().reads, reads + 1)
  })

  it('are corrected and told of when the chain has others than the events told', async () => {
    const node = createBlankDiamond({ pairs: 12, collaterals: 2 })
    const { watched, differences } = await open(node)
    await watched.note([block(node.head)])
    setTokens(node, 11, 9n)
    await until('a difference', () => differences.length > 0)
    assert.deepEqual(differences, [{ block: node.head, places: ['P11/USD in USDC'] }])
    assert.equal(tokensOf(watched, 11), 9n)
    assert.equal(watched.stats().differences, 1)
    assert.match(watched.warning()!, /^At block 2000 the chain had other values .*: P11\/USD in USDC\.$/)
    await until('all pairs are compared again', () => watched.warning() === undefined)
    assert.equal(differences.length, 1)
  })

  it('lag with their follower', async () => {
    const node = createBlankDiamond({ pairs: 2, collaterals: 1 })
    const { watched, clock } = await open(node)
    clock.follower = 'lagging'
    assert.equal(watched.isLagging(), false, 'as long as they are read without it')
    await watched.note([block(node.head)])
    await until('it is in step', () => watched.isLagging())
  })

  it('are read in rounds while their follower is lost', async () => {
    const node = createBlankDiamond({ pairs: 2, collaterals: 1 })
    const { watched, clock, rounds } = await open(node)
    await watched.note([block(node.head)])
    clock.follower = 'lost'
    const [before, reads] = [rounds(), watched.stats().reads]
    setTokens(node, 1, 9n)
    await until('a few rounds', () => rounds() > before + 3)
    assert.ok(watched.stats().reads > reads)
    assert.deepEqual([tokensOf(watched, 1), watched.isLagging()], [9n, false])
  })

  it('are read one by one where there is no Multicall3', async () => {
    const node = createBlankDiamond({ pairs: 3, collaterals: 1 })
    node.isPlain = true
    const { watched } = await open(node)
    assert.equal(watched.current()!.markets.size, 3)
  })
})
