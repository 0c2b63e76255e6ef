import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { until } from '@bezel/testkit/until.ts'
import { Price } from '@bezel/protocol'
import { numberToHex } from 'viem'
import { MARKETS } from '../../../../contracts/test/campaign/market.ts'
import { createRandom } from '../../../../contracts/test/campaign/random.ts'
import { createCallRound } from '../chain/diamondCalls.ts'
import { depthFinality } from '../chain/finality.ts'
import { createMulticallClient } from '../chain/multicallClient.ts'
import { createChainHead } from '../journal/clock.ts'
import { openTestLog } from '../journal/testing/testLog.ts'
import { assembleMarkets } from '../market/listing/assembleMarkets.ts'
import { readListing } from '../market/listing/readListing.ts'
import { momentOf, readState } from '../market/listing/readState.ts'
import { watchChainMarkets, type ChainMarketsWatch } from '../market/watchChainMarkets.ts'
import type { FollowedBlock } from '../store/blockStore.ts'
import { migrate } from '../store/openStore.ts'
import { openTestStore } from '../store/testing/testStore.ts'
import { activeWindowIds } from '../trading/valuation/priceImpact.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { createFollowing, type Following } from './createFollowing.ts'
import { createMarketSteps, parseStep, tellApplied, tellUndone } from './toldBlocks.ts'
import { createWalkedChain, type WalkedChain } from './testing/walkedChain.ts'

// The markets that are folded from events must be what the Diamond's own views say, at every block of a random history
// with reorganisations. CAMPAIGN=100 tries that many histories; SEED=7 tries one.

const CHAIN = 'arbitrum-sepolia'
const SEED = process.env['SEED']
const HISTORIES = Number(process.env['CAMPAIGN'] ?? 1)
const PARTS = 9
const MAX_DEPTH = 5
const PAIRS = [...new Set(MARKETS.map(({ pairIndex }) => pairIndex))]
/** So long that no round of the watch comes in between: only events tell what has changed. */
const NEVER_MS = 600_000

describe('the markets folded from events, at every block of random histories', () => {
  let chain: WalkedChain
  let comparedBlocks = 0
  /** Number of reorganisations, and of those that took values back which events had told. */
  let undone = 0
  let takenBack = 0
  let reads = 0

  before(async () => {
    chain = await createWalkedChain()
  })
  after(() => chain?.stop())

  function openWatch(): ChainMarketsWatch {
    return watchChainMarkets({
      client: createMulticallClient(chain.client),
      diamond: chain.served.diamond,
      referencePrices: { of: async () => new Map(PAIRS.map((pairIndex) => [pairIndex, Price.of(100n * Price.one)])) },
      verifyChain: async () => undefined,
      now: () => 0,
      refreshMs: NEVER_MS,
      lastFinal: (head) => head - 64,
      followerState: () => 'following',
      onRefresh: (outcome) => assert.notEqual(outcome.state, 'failed', String(Reflect.get(outcome, 'error'))),
      onDifference: ({ places }) => assert.fail(places.join()),
    })
  }

  /** Compares what is known with the Diamond's views at the last followed block. */
  async function compare({ number, hash }: FollowedBlock, known: ChainMarkets): Promise<void> {
    assert.equal(known.moment.blockNumber, number, hash)
    comparedBlocks += 1
    const round = createCallRound(chain.client, chain.served.diamond, numberToHex(number))
    const checks = known.collaterals.flatMap(({ index }) => PAIRS.map((pair) => checkPair(round, known, index, pair)))
    const volumes = PAIRS.map((pairIndex) => checkVolume(round, known, pairIndex))
    const activated = round.view('getTradingActivated', [])
    await round.run()
    for (const check of [...checks, ...volumes]) check()
    assert.equal(known.tradingActivated, activated())
  }

  async function live(seed: number): Promise<void> {
    const random = createRandom(seed)
    await chain.restart(seed)
    const watch = openWatch()
    const beside = openWatch()
    const opened = openTestStore()
    try {
      await until('the markets are read', () => [watch, beside].every((one) => one.current() !== undefined))
      await migrate(opened.store)
      const following = await follow(watch, opened.store, beside)
      for (let part = 0; part < PARTS; part += 1) {
        await chain.walk(random.int(2, 7))
        if (random.chance(0.8)) await catchUp(following, watch)
        if (!random.chance(0.7)) continue
        const depth = random.int(1, Math.min(MAX_DEPTH, chain.headNumber() - chain.lastCommonBlock))
        await chain.reorg(depth, random.pick(['drop', 'remine']))
      }
      await catchUp(following, watch)
      await expectSameAsRead(following.head()!, watch.current()!)
      reads += watch.stats().reads
      assert.equal(beside.stats().reads, watch.stats().reads)
    } finally {
      watch.close()
      beside.close()
      await opened.remove()
    }
  }

  /** Follows the chain; `beside` are the markets of another node, which hears of each step by its text alone. */
  async function follow(
    watch: ChainMarketsWatch,
    store: ReturnType<typeof openTestStore>['store'],
    beside: ChainMarketsWatch,
  ): Promise<Following> {
    const steps = createMarketSteps(beside)
    async function tellBeside(step: string): Promise<void> {
      steps.take(parseStep(step))
      await steps.settled()
      assert.deepEqual(beside.current(), watch.current())
    }
    const following = createFollowing({
      onError: (error) => assert.fail(String(error)),
      head: createChainHead(),
      chain: chain.served,
      client: chain.client,
      store,
      accountLog: openTestLog(store, CHAIN),
      finality: depthFinality(64),
      startBlock: chain.lastCommonBlock - 3,
      tradersPerPart: 500,
      now: () => 0,
      timeoutBlocks: () => watch.current()!.marketOrdersTimeoutBlocks,
      async onApplied(blocks) {
        await watch.note(blocks)
        await tellBeside(tellApplied(blocks))
        const last = blocks.at(-1)!.block
        // The markets were read at the last block of the common beginning.
        if (last.number >= chain.lastCommonBlock) await compare(last, watch.current()!)
      },
      async onUndone(head) {
        const [known, readsBefore] = [watch.current()!, watch.stats().reads]
        await watch.noteUndone(head)
        await tellBeside(tellUndone(head, []))
        const { states, volumes } = watch.current()!
        undone += 1
        const isChanged = states !== known.states || volumes !== known.volumes
        if (isChanged && watch.stats().reads === readsBefore) takenBack += 1
        await compare(head!, watch.current()!)
      },
    })
    await following.open()
    return following
  }

  async function catchUp(following: Following, watch: ChainMarketsWatch): Promise<void> {
    do while (await following.step(watch.current()!));
    while (following.head()?.number !== chain.headNumber())
  }

  /** Compares all markets with those that a new start would read. */
  async function expectSameAsRead(block: FollowedBlock, known: ChainMarkets): Promise<void> {
    const at = { client: chain.client, diamond: chain.served.diamond, block: numberToHex(block.number) }
    const listing = await readListing(at)
    const moment = momentOf(block)
    const read = assembleMarkets(listing, await readState(at, listing, moment), known.referencePrices, moment)
    const ids = new Set(activeWindowIds(listing.windows, moment.timestampS))
    const plain = ({ volumes, ...others }: ChainMarkets) => ({
      ...others,
      blocksPerHour: 0,
      volumes: [...volumes].map(([pair, { windows }]) => [
        pair,
        [...windows].filter(([id, { oiLongUsd, oiShortUsd }]) => ids.has(id) && oiLongUsd + oiShortUsd > 0n).toSorted(),
      ]),
    })
    assert.deepEqual(plain(known), plain(read))
  }

  const first = Number(SEED ?? 1)
  for (let seed = first; seed < first + HISTORIES; seed += 1) {
    it(`number ${seed}`, () => live(seed))
  }

  it('are many blocks, of which some were taken back', { skip: SEED !== undefined }, (t) => {
    t.diagnostic(`${comparedBlocks} blocks compared, ${undone} reorganisations, ${takenBack} of values, ${reads} reads`)
    assert.ok(comparedBlocks > 20 && takenBack > 0)
  })
})

type Round = ReturnType<typeof createCallRound>

function checkPair(round: Round, known: ChainMarkets, collateralIndex: number, pairIndex: number): () => void {
  const tokens = round.view('getPairOiAfterV10Token', [collateralIndex, pairIndex])
  const funding = round.view('getPairFundingFeeData', [[collateralIndex], [pairIndex]])
  const borrowing = round.view('getPairBorrowingFeeData', [[collateralIndex], [pairIndex]])
  const old = round.view('getBorrowingPair', [collateralIndex, pairIndex])
  const groupIndex = round.view('getBorrowingPairGroupIndex', [collateralIndex, pairIndex])
  const group = round.view('getBorrowingGroup', [collateralIndex, 1])
  const groupOi = round.view('getBorrowingGroupOi', [collateralIndex, 1])
  const maxOi = round.view('getPairMaxOi', [collateralIndex, pairIndex])
  return () => {
    const pair = known.states.get(collateralIndex)?.get(pairIndex)
    const { oiLongToken, oiShortToken } = pair!
    assert.deepEqual({ oiLongToken, oiShortToken }, tokens())
    assert.deepEqual(pair!.fundingData, funding()[0])
    assert.deepEqual(pair!.borrowingData, borrowing()[0])
    assert.deepEqual(pair!.oldBorrowing.data, old())
    if (groupIndex() === 1) assert.deepEqual(pair!.oldBorrowing.group, { data: group(), oi: groupOi() })
    assert.equal(pair!.maxOi, maxOi())
  }
}

function checkVolume(round: Round, known: ChainMarkets, pairIndex: number): () => void {
  const [long, short] = [true, false].map((isLong) => round.view('getPriceImpactOi', [BigInt(pairIndex), isLong]))
  return () => {
    const volume = known.volumes.get(pairIndex)
    if (volume === undefined) return
    const windows = activeWindowIds(volume.settings, known.moment.timestampS).map((id) => volume.windows.get(id))
    const sumOf = (side: 'oiLongUsd' | 'oiShortUsd'): bigint =>
      windows.reduce((sum, window) => sum + (window?.[side] ?? 0n), 0n)
    assert.deepEqual([sumOf('oiLongUsd'), sumOf('oiShortUsd')], [long!(), short!()])
  }
}
