import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import {
  CollateralAmount,
  parseAddress,
  Price,
  scaleDecimal,
  TokenSize,
  type Address,
  type Decimal,
} from '@bezel/protocol'
import fc from 'fast-check'
import type { AgentRecord } from '../../trading/agentRecord.ts'
import { usd } from '../../market/testing/fixtures.ts'
import { saveLeverage } from '../../store/facadeLeverageStore.ts'
import { ALICE, createFacadeWorld, livePosition, PEPE_PRICE, type FacadeWorld } from '../testing/facadeWorld.ts'
import { answerInfo, INFO_TYPES } from './infoTypes.ts'
import { MalformedInfoError } from './infoRequest.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'

const BOB = parseAddress(`0x${'bb'.repeat(20)}`)!

const AGENT = parseAddress(`0x${'ce'.repeat(20)}`)!

/** Parses text as USD scaled by 1e6, without rounding. */
const usdE6 = (text: string): bigint => scaleDecimal(text.replace(/\.0$/, '') as Decimal, 6)!

function agentOf(changes: Partial<AgentRecord> = {}): AgentRecord {
  const scope = {
    markets: 'all' as const,
    maxLeverage: null,
    dailySpendCapUsd: null,
    expiresAt: null,
    permissions: 'trade' as const,
  }
  return {
    chain: 'base',
    agent: AGENT,
    trader: ALICE,
    name: 'bot',
    scope,
    mode: 'relayed',
    agentSigned: false,
    revoked: false,
    standing: 'used',
    createdAtMs: 1,
    signedAtMs: 1,
    ...changes,
  }
}

describe('what the facade says of accounts', () => {
  let world: FacadeWorld

  beforeEach(async () => {
    world = await createFacadeWorld()
  })
  afterEach(() => world.opened.remove())

  async function ask(type: string, fields: Record<string, unknown> = {}) {
    return JSON.parse(String(await answerInfo({ type, user: ALICE.toLowerCase(), ...fields }, world.reads)))
  }

  describe('clearinghouseState', () => {
    const state = (fields: Record<string, unknown> = {}) => ask('clearinghouseState', fields)
    const positions = async () => (await state()).assetPositions.map(({ position }: { position: unknown }) => position)

    it('of somebody without positions is the wallet', async () => {
      const { time, ...rest } = await state({ user: BOB })
      const summary = { accountValue: '1000.5', totalNtlPos: '0.0', totalRawUsd: '1000.5', totalMarginUsed: '0.0' }
      assert.equal(time, world.market.nowMs)
      assert.deepEqual(rest, {
        marginSummary: summary,
        crossMarginSummary: summary,
        crossMaintenanceMarginUsed: '0.0',
        withdrawable: '1000.5',
        assetPositions: [],
      })
    })

    it('shows a position with what clients compute from', async () => {
      world.positions = [livePosition('11')]
      const [position] = await positions()
      const { liquidationPx, ...rest } = position
      assert.deepEqual(rest, {
        coin: 'BTC',
        szi: '0.01666',
        leverage: { type: 'isolated', value: 10, rawUsd: '-900.75' },
        entryPx: '60012.0',
        positionValue: '999.800039',
        unrealizedPnl: '-0.949961',
        returnOnEquity: '-0.00949961',
        marginUsed: '99.050039',
        maxLeverage: 200,
        cumFunding: { allTime: '0.0', sinceOpen: '0.0', sinceChange: '0.0' },
      })
      assert.ok(Number(liquidationPx) > 50_000 && Number(liquidationPx) < 60_000)
    })

    it('nets what a trader has in a coin: sums, the entry by size, the nearest liquidation', async () => {
      const [one] = [livePosition('11')]
      const more = livePosition('12', {
        leverage: 50_000,
        openPrice: usd(61_000),
        positionSizeToken: TokenSize.of(81_967_213_114_754_098n),
      })
      const alone = async (of: typeof one) => {
        world.positions = [of!]
        return (await positions())[0]
      }
      const [first, second] = [await alone(one), await alone(more)]
      world.positions = [one!, more]
      const [both, ...others] = await positions()
      assert.deepEqual(others, [])
      assert.deepEqual([first.szi, second.szi, both.szi], ['0.01666', '0.08197', '0.09863'])
      assert.equal(usdE6(both.marginUsed), usdE6(first.marginUsed) + usdE6(second.marginUsed))
      assert.equal(usdE6(both.unrealizedPnl), usdE6(first.unrealizedPnl) + usdE6(second.unrealizedPnl))
      const sizes = [one!, more].map((held) => Number(held.state.trade.positionSizeToken) / 1e18)
      const entry = (sizes[0]! * 60_012 + sizes[1]! * 61_000) / (sizes[0]! + sizes[1]!)
      assert.ok(Math.abs(Number(both.entryPx) - entry) <= 0.005)
      assert.equal(Number(both.liquidationPx), Math.max(Number(first.liquidationPx), Number(second.liquidationPx)))
      assert.equal(both.leverage.value, 30, '6,000 USD on 200')
    })

    it('shows longs and shorts as what is left of them, on its side', async () => {
      const size = livePosition('1').state.trade.positionSizeToken
      world.positions = [
        livePosition('11'),
        livePosition('12', { long: false, positionSizeToken: TokenSize.of((size * 3n) / 4n) }),
      ]
      const [long] = await positions()
      assert.equal(long.szi, '0.00417')
      assert.equal(long.entryPx, '60012.0')
      assert.ok(Number(long.liquidationPx) < 60_000)
      world.positions = [
        livePosition('11'),
        livePosition('12', { long: false, positionSizeToken: TokenSize.of(size * 2n) }),
      ]
      const [short] = await positions()
      assert.ok(Number(short.szi) < 0 && Number(short.liquidationPx) > 60_000)
      world.positions = [livePosition('11'), livePosition('12', { long: false })]
      const [none] = await positions()
      assert.deepEqual([none.szi, none.positionValue, none.liquidationPx], ['0.0', '0.0', null])
    })

    it('counts coins of 1,000 units', async () => {
      const openPrice = PEPE_PRICE
      world.positions = [
        livePosition('11', {
          pairIndex: 3,
          openPrice: Price.of(openPrice),
          positionSizeToken: TokenSize.of(81_000_000n * 10n ** 18n),
        }),
      ]
      const [position] = await positions()
      assert.deepEqual([position.coin, position.szi, position.entryPx], ['kPEPE', '81000.0', '0.0123456'])
      assert.ok(Math.abs(Number(position.positionValue) - 999.99) < 0.01)
    })

    it('adds up, whatever is open and whatever it is worth', async () => {
      const trade = fc.record({
        pairIndex: fc.constantFrom(0, 5, 9),
        long: fc.boolean(),
        collateralIndex: fc.constantFrom(2, 3),
        leverage: fc.integer({ min: 2_000, max: 150_000 }),
        collateralAmount: fc.bigInt({ min: 10n ** 6n, max: 10n ** 12n }).map(CollateralAmount.of),
        positionSizeToken: fc.bigInt({ min: 10n ** 15n, max: 10n ** 20n }).map(TokenSize.of),
      })
      await fc.assert(
        fc.asyncProperty(
          fc.array(trade, { maxLength: 6 }),
          fc.bigInt({ min: 0n, max: 10n ** 13n }),
          async (trades, wallet) => {
            world.positions = trades.map((changes, at) => livePosition(String(at + 1), changes))
            world.balance =
              `${wallet / 1_000_000n}.${String(wallet % 1_000_000n).padStart(6, '0')}`.replace(/\.?0+$/, '') || '0'
            const { marginSummary, crossMarginSummary, withdrawable, assetPositions } = await state()
            const of = (name: string) =>
              assetPositions.reduce(
                (sum: bigint, { position }: { position: Record<string, string> }) => sum + usdE6(position[name]!),
                0n,
              )
            assert.deepEqual(crossMarginSummary, marginSummary)
            assert.equal(usdE6(withdrawable), wallet)
            assert.equal(usdE6(marginSummary.accountValue) - usdE6(marginSummary.totalMarginUsed), wallet)
            assert.equal(usdE6(marginSummary.totalMarginUsed), of('marginUsed'))
            assert.equal(usdE6(marginSummary.totalNtlPos), of('positionValue'))
            assert.equal(
              new Set(assetPositions.map(({ position }: { position: { coin: string } }) => position.coin)).size,
              assetPositions.length,
            )
            for (const { type, position } of assetPositions) {
              assert.equal(type, 'oneWay')
              const sign = Number(position.szi) < 0 ? -1n : 1n
              const rawUsd = usdE6(position.leverage.rawUsd)
              assert.equal(rawUsd + sign * usdE6(position.positionValue), usdE6(position.marginUsed))
              assert.ok(Number.isInteger(position.leverage.value) && position.leverage.value >= 1)
            }
          },
        ),
        { numRuns: 50 },
      )
    })

    it('takes off what was won or lost to get at what was put in', async () => {
      world.positions = [livePosition('11'), livePosition('12', { pairIndex: 5, openPrice: usd(150) })]
      for (const position of await positions()) {
        assert.equal(usdE6(position.marginUsed) - usdE6(position.unrealizedPnl), 100_000_000n)
      }
    })

    it('goes on with the last prices and the last wallet, and with its entry where there is no price', async () => {
      world.positions = [livePosition('11')]
      const before = await state()
      world.market.nowMs += 60_000
      world.isNodeAway = true
      world.followerReason = 'chain_lagging'
      assert.deepEqual(await state(), { ...before, time: world.market.nowMs })
      world.market.quotes.delete(0)
      assert.equal((await positions())[0].entryPx, '60012.0')
    })

    it('is not there before the chain was caught up with, or while nothing is known of the wallet', async () => {
      for (const reason of ['starting', 'reorg_too_deep'] as const) {
        world.followerReason = reason
        await assert.rejects(state(), { code: 'NOT_READY' })
      }
      world.followerReason = undefined
      world.isNodeAway = true
      await assert.rejects(state(), { name: 'NodeUnavailableError' })
    })

    it('of an exchange within the exchange is empty', async () => {
      world.positions = [livePosition('11')]
      const { marginSummary, assetPositions } = await state({ dex: 'xyz' })
      assert.deepEqual([marginSummary.accountValue, assetPositions], ['0.0', []])
      assert.equal((await state({ dex: '' })).assetPositions.length, 1)
    })
  })

  it('activeAssetData tells the leverage of the next order and what it buys', async () => {
    const asked = () => ask('activeAssetData', { coin: 'BTC' })
    assert.deepEqual(await asked(), {
      user: ALICE.toLowerCase(),
      coin: 'BTC',
      leverage: { type: 'isolated', value: 10, rawUsd: '0.0' },
      maxTradeSzs: ['0.16675', '0.16675'],
      availableToTrade: ['1000.5', '1000.5'],
      markPx: '60000.00',
    })
    const key = { chain: 'base' as const, trader: ALICE, pairIndex: 0 }
    await world.opened.store.transaction(TEST_SCOPE, (sql) => saveLeverage(sql, key, 25))
    await world.opened.store.transaction(TEST_SCOPE, (sql) => saveLeverage(sql, key, 50))
    assert.equal((await asked()).leverage.value, 50)
    assert.equal((await ask('activeAssetData', { coin: 'BTC', user: BOB })).leverage.value, 10)
    assert.equal(await ask('activeAssetData', { coin: 'NOPE' }), null)
    assert.equal(await ask('activeAssetData', { coin: 'PAIR_1' }), null)
  })

  it('userRole and extraAgents know agents, traders and nobody', async () => {
    assert.deepEqual(await ask('userRole'), { role: 'missing' })
    world.agents = [
      agentOf(),
      agentOf({ agent: BOB, revoked: true }),
      // Nobody learns the address of an agent that another trader could still claim.
      agentOf({ agent: parseAddress(`0x${'cf'.repeat(20)}`)!, standing: 'claimed' }),
      agentOf({ agent: ALICE, trader: BOB, scope: { ...agentOf().scope, expiresAt: world.market.nowMs } }),
    ]
    assert.deepEqual(await ask('userRole', { user: AGENT }), { role: 'agent', data: { user: ALICE.toLowerCase() } })
    assert.deepEqual(await ask('userRole', { user: BOB }), { role: 'missing' }, 'its agent is revoked')
    assert.deepEqual(await ask('extraAgents'), [
      { address: AGENT.toLowerCase(), name: 'bot', validUntil: 253_402_300_799_000 },
    ])
    assert.deepEqual(await ask('extraAgents', { user: BOB }), [], 'expired')
    world.agents = []
    world.positions = [livePosition('11')]
    assert.deepEqual(await ask('userRole'), { role: 'user' })
  })

  it('has the rest in the shape that clients read', async () => {
    assert.equal(await ask('userAbstraction'), 'disabled')
    assert.equal(await ask('maxBuilderFee', { builder: BOB }), 0)
    assert.equal(await ask('subAccounts'), null)
    assert.deepEqual(await ask('spotClearinghouseState'), { balances: [] })
    assert.deepEqual(await ask('userFunding', { startTime: 0 }), [])
    assert.deepEqual(await ask('userNonFundingLedgerUpdates', { startTime: 0 }), [])
    assert.deepEqual(await ask('userRateLimit'), {
      cumVlm: '0.0',
      nRequestsUsed: 0,
      nRequestsCap: 600,
      nRequestsSurplus: 0,
    })
    const fees = await ask('userFees')
    assert.deepEqual([fees.userCrossRate, fees.userAddRate, fees.feeSchedule.cross], ['0.0006', '0.0006', '0.0006'])
    assert.deepEqual((await ask('referral')).referrerState, { stage: 'needToCreateCode' })
    assert.deepEqual(
      (await ask('portfolio')).map(([period]: [string]) => period),
      ['day', 'week', 'month', 'allTime', 'perpDay', 'perpWeek', 'perpMonth', 'perpAllTime'],
    )
  })

  it('is refused where it tells what is open or what happened, while not everything of the user is known', async () => {
    world.isKnown = false
    for (const type of Object.keys(INFO_TYPES)) {
      const answered = async () => ask(type, { coin: 'BTC', startTime: 0, oid: 1, req: CANDLES, id: 1 })
      if (!OF_TRADING.has(type)) await answered()
      else await assert.rejects(answered, { code: 'NOT_READY', details: { reason: 'snapshot' } }, type)
    }
    const listed = [...OF_TRADING].filter((type) => !Object.hasOwn(INFO_TYPES, type))
    assert.deepEqual(listed, [])
  })

  it('takes an address in any case, and refuses what is none, for every type that needs one', async () => {
    const fields = { coin: 'BTC', startTime: 0, oid: 1 }
    const ofUsers = Object.keys(INFO_TYPES).filter((type) => !OF_MARKETS.has(type))
    assert.equal(ofUsers.length, 40)
    for (const type of ofUsers) {
      const upper = `0x${ALICE.slice(2).toUpperCase()}` as Address
      assert.deepEqual(await ask(type, { ...fields, user: upper }), await ask(type, fields), type)
      for (const user of [undefined, null, 5, 'alice', `${ALICE}00`, ['0x'], {}]) {
        await assert.rejects(async () => answerInfo({ type, ...fields, user }, world.reads), MalformedInfoError, type)
      }
    }
  })
})

const CANDLES = { coin: 'BTC', interval: '1m', startTime: 0, endTime: 1 }

/** Types that are made of a user's positions, orders and executions. All others say nothing about these. */
const OF_TRADING: ReadonlySet<string> = new Set([
  'clearinghouseState',
  'openOrders',
  'frontendOpenOrders',
  'orderStatus',
  'historicalOrders',
  'userFills',
  'userFillsByTime',
  'userFunding',
  'userNonFundingLedgerUpdates',
  'userRole',
  'webData2',
])

const OF_MARKETS: ReadonlySet<string> = new Set([
  'meta',
  'metaAndAssetCtxs',
  'allMids',
  'spotMeta',
  'spotMetaAndAssetCtxs',
  'perpDexs',
  'outcomeMeta',
  'allPerpMetas',
  'exchangeStatus',
  'l2Book',
  'candleSnapshot',
  'recentTrades',
  'fundingHistory',
  'vaultDetails',
  'vaultSummaries',
  'validatorSummaries',
  'validatorL1Votes',
  'gossipRootIps',
  'gossipPriorityAuctionStatus',
  'perpDeployAuctionStatus',
  'spotPairDeployAuctionStatus',
  'perpDexLimits',
  'perpDexStatus',
  'outcomeTemplates',
  'settledOutcome',
  'tokenDetails',
  'allBorrowLendReserveStates',
  'borrowLendReserveState',
  'maxMarketOrderNtls',
  'perpsAtOpenInterestCap',
  'liquidatable',
  'usdcRouting',
  'marginTable',
  'perpAnnotation',
  'perpCategories',
  'perpConciseAnnotations',
  'predictedFundings',
])
