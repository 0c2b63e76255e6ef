import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  CollateralPrice,
  Fraction,
  Leverage,
  PercentP,
  Price,
  Usd,
  type Decimal,
  type OrderType,
  type Side,
} from '@bezel/protocol'
import fc from 'fast-check'
import { packBands } from '../../../devnet/src/deploy/configureDiamond.ts'
import { DEPTH_BAND_OFFSETS_PPM, DEPTH_BAND_SHARES_BPS } from '../../../devnet/src/listing/settings.ts'
import { orderBook } from '../../../server/src/market/orderBook.ts'
import { BTC } from '../../../server/src/market/testing/fixtures.ts'
import { normalizeOrder } from '../../../server/src/trading/plan/normalizeOrder.ts'
import { planCreateOrder } from '../../../server/src/trading/plan/planCreateOrder.ts'
import type { TradingContext } from '../../../server/src/trading/plan/plan.ts'
import { contextOf, TRADER, withMarket } from '../../../server/src/trading/plan/testing/fixtures.ts'
import { marketRecord } from '../../../server/src/trading/market/marketRecord.ts'
import { previewOpening } from '../../../server/src/trading/preview/previewOpening.ts'
import { decodeDepthBook } from '../../../server/src/trading/valuation/depthBands.ts'
import { LISTING, LIQUIDATION } from '../../../server/src/trading/valuation/testing/fixtures.ts'
import type { ChainTerms } from './chainTerms.ts'
import { depthSide, percentOfFraction, volumeImpactP } from './depth.ts'
import { estimateSize, isBelowMinimum, minimumSize, sizeOfCollateral, type EstimateFacts } from './estimate.ts'

// The witness is the service itself: its plan, its preview and its book, from the same chain.

/** The bands of BTC on the local chain. */
const LOCAL_BANDS = decodeDepthBook(packBands(DEPTH_BAND_SHARES_BPS, 40_000_000), packBands(DEPTH_BAND_OFFSETS_PPM))

const TOKENS = { USDC: { decimals: 6, priceUsd: '1' }, WETH: { decimals: 18, priceUsd: '2500' } } as const

const TERMS: ChainTerms['liquidation'] = {
  maxLiqSpreadP: BigInt(LIQUIDATION.maxLiqSpreadP),
  startThresholdP: BigInt(LIQUIDATION.startLiqThresholdP),
  endThresholdP: BigInt(LIQUIDATION.endLiqThresholdP),
  startLeverage: BigInt(LIQUIDATION.startLeverage),
  endLeverage: BigInt(LIQUIDATION.endLeverage),
}

interface World {
  /** Mark in cents. */
  readonly cents: number
  /** Spread in millionths. */
  readonly spreadPpm: number
  readonly hasDepth: boolean
  /** USD that were traded on each side a moment ago. */
  readonly recentUsd: number
}

function contextIn({ cents, spreadPpm, hasDepth, recentUsd }: World): TradingContext {
  const depth = hasDepth ? { depthAbove: LOCAL_BANDS, depthBelow: LOCAL_BANDS } : {}
  const listing = { ...LISTING, ...depth, spreadP: PercentP.of((BigInt(spreadPpm) * PercentP.one) / 10_000n) }
  const mark = Price.of(BigInt(cents) * 10n ** 8n)
  const context = withMarket({ listing }, contextOf({ markOf: () => mark }))
  const traded = Usd.of(BigInt(recentUsd) * Usd.one)
  const windows = new Map([[16, { oiLongUsd: traded, oiShortUsd: traded }]])
  const volumes = new Map([[0, { settings: { startTs: 0, windowsDuration: 60, windowsCount: 4 }, windows }]])
  return { ...context, chain: { ...context.chain, volumes } }
}

interface Order {
  readonly side: Side
  readonly type: OrderType
  readonly size: string
  readonly leverage: string
  readonly collateral: keyof typeof TOKENS
  /** Trigger in hundredths of the mark. */
  readonly triggerPercent: number
}

/** Returns the facts as the console reads them from the service. */
function factsOf(context: TradingContext, { side, collateral }: Pick<Order, 'side' | 'collateral'>): EstimateFacts {
  const pair = context.chain.markets.get(BTC.symbol)!
  const mark = context.markOf(pair)
  const market = marketRecord(context.chain, pair, mark, true)
  const book = orderBook(context.chain, pair, { mark, updatedAtMs: 1_000 }, 30)
  const { decimals, priceUsd } = TOKENS[collateral]
  return {
    market,
    mark: Price.format(mark),
    depth: depthSide(book, side, percentOfFraction(market.spreadRate) / 2n),
    collateral: { decimals, symbol: collateral },
    terms: { liquidation: TERMS, collateralPriceUsd: priceUsd },
    feeTierMultiplier: null,
  }
}

/** Returns what the console estimates and what the service previews; undefined when the service refuses the order. */
function both(world: World, order: Order) {
  const context = contextIn(world)
  const facts = factsOf(context, order)
  const trigger = Price.format(Price.of((context.markOf(BTC) * BigInt(order.triggerPercent)) / 100n)) as Decimal
  const price = order.type === 'market' ? null : trigger
  const { side, type, size, leverage, collateral } = order
  const body = { market: 'BTC/USD', side, type, size, leverage, collateral, ...(price === null ? {} : { price }) }
  const estimate = estimateSize({ side, type, price, leverage }, size, facts)
  const isSmall = isBelowMinimum(estimate, facts)
  try {
    const account = { trader: TRADER, positions: [], collateral }
    const plan = planCreateOrder(normalizeOrder(body, context), context, account)
    return { estimate, isSmall, preview: previewOpening(plan, TRADER, context), facts }
  } catch (error) {
    return { estimate, isSmall, facts, refusal: (error as { readonly code?: string }).code }
  }
}

const anyWorld: fc.Arbitrary<World> = fc.record({
  cents: fc.integer({ min: 100_000, max: 20_000_000 }),
  spreadPpm: fc.integer({ min: 0, max: 2_000 }),
  hasDepth: fc.boolean(),
  recentUsd: fc.integer({ min: 0, max: 3_000_000 }),
})

const anyOrder: fc.Arbitrary<Order> = fc.record({
  side: fc.constantFrom('long', 'short'),
  type: fc.constantFrom('market', 'limit', 'stop'),
  size: fc.integer({ min: 1, max: 5_000_000 }).map((steps) => String(steps / 100_000)),
  leverage: fc.integer({ min: 1_100, max: 200_000 }).map((units) => Leverage.format(Leverage.of(units))),
  collateral: fc.constantFrom('USDC', 'WETH'),
  triggerPercent: fc.integer({ min: 50, max: 200 }),
})

/** Returns how far two numbers are apart, as a share of the second. */
const apart = (found: string, expected: string): number =>
  Math.abs(Number(found) - Number(expected)) / Math.max(Math.abs(Number(expected)), 1e-9)

describe('the estimate of an order', () => {
  it('is the preview of the service to the last unit where volume does not move the price', () => {
    fc.assert(
      fc.property(anyWorld, anyOrder, (world, order) => {
        const { estimate, isSmall, preview, refusal } = both({ ...world, hasDepth: false }, order)
        if (preview === undefined) {
          if (refusal === 'SIZE_BELOW_MINIMUM') assert.ok(isSmall)
          return
        }
        assert.equal(isSmall, false)
        const { collateral, price, oraclePrice, feeCollateral, liquidationPrice, notionalUsd, spreadRate } = preview
        assert.deepEqual(
          { ...estimate, size: undefined, volumeImpactRate: undefined },
          {
            size: undefined,
            volumeImpactRate: undefined,
            collateral,
            price,
            oraclePrice,
            feeCollateral,
            liquidationPrice,
            notionalUsd,
            spreadRate,
          },
        )
      }),
      { numRuns: 400 },
    )
  })

  it('is within a millionth of the preview where it does, with recent volume', () => {
    let deep = 0
    fc.assert(
      fc.property(anyWorld, anyOrder, (world, order) => {
        const { estimate, preview, facts } = both({ ...world, hasDepth: true }, order)
        if (preview === undefined) return
        deep += Number(preview.volumeImpactRate) > 0 ? 1 : 0
        for (const name of ['price', 'collateral', 'feeCollateral', 'notionalUsd'] as const) {
          assert.ok(apart(estimate[name], preview[name]) < 1e-6, `${name}: ${estimate[name]} for ${preview[name]}`)
        }
        assert.ok(
          apart(estimate.volumeImpactRate, preview.volumeImpactRate) < 1e-3 || Number(preview.volumeImpactRate) < 1e-6,
        )
        assert.ok(apart(estimate.liquidationPrice ?? '0', preview.liquidationPrice ?? '0') < 1e-6)
        assert.ok(volumeImpactP(facts.depth, 0n) >= 0n)
      }),
      { numRuns: 400 },
    )
    assert.ok(deep > 100, `only ${deep} orders moved the price`)
  })

  it('buys with a collateral at most that collateral, and one step less than would take more', () => {
    fc.assert(
      fc.property(anyWorld, anyOrder, fc.integer({ min: 1, max: 10_000_000 }), (world, order, cents) => {
        const facts = factsOf(contextIn(world), order)
        const terms = { side: order.side, type: 'market', price: null, leverage: order.leverage } as const
        const amount = String(cents / 100)
        const size = sizeOfCollateral(terms, amount, facts)
        // Far beyond the depth the search for the price ends before it has settled, as that of the service does.
        if (size === '0' || Number(size) * world.cents > 2e9) return
        const taken = estimateSize(terms, size, facts).collateral
        // One unit of the token is rounded up, and the price of the whole is that of its own notional.
        assert.ok(Number(taken) <= Number(amount) * (1 + 1e-6) + 1e-6, `${size} takes ${taken} of ${amount}`)
        const more = estimateSize(terms, String(Number(size) + 0.00002), facts).collateral
        assert.ok(Number(more) > Number(amount) * (1 - 1e-6), `${size} takes ${taken} of ${amount}, and more ${more}`)
      }),
      { numRuns: 300 },
    )
  })

  it('names the smallest size that the service takes', () => {
    fc.assert(
      fc.property(anyWorld, anyOrder, (world, order) => {
        const market = { ...order, type: 'market' } as const
        const facts = factsOf(contextIn(world), order)
        const least = minimumSize({ side: order.side, type: 'market', price: null, leverage: order.leverage }, facts)
        assert.notEqual(both(world, { ...market, size: least }).refusal, 'SIZE_BELOW_MINIMUM')
        const less = (Number(least) - 0.00003).toFixed(5)
        if (Number(less) > 0) assert.equal(both(world, { ...market, size: less }).refusal, 'SIZE_BELOW_MINIMUM')
      }),
      { numRuns: 200 },
    )
  })

  it('knows no liquidation price before the chain was read, and takes a token without price for a dollar', () => {
    const facts = {
      ...factsOf(contextIn({ cents: 6_000_000, spreadPpm: 400, hasDepth: false, recentUsd: 0 }), {
        side: 'long',
        collateral: 'USDC',
      }),
      terms: null,
    }
    const order = { side: 'long', type: 'market', price: null, leverage: '10' } as const
    const estimate = estimateSize(order, '0.1', facts)
    assert.deepEqual([estimate.liquidationPrice, estimate.collateral, estimate.price], [null, '600.12', '60012'])
    const tiered = estimateSize(order, '0.1', { ...facts, feeTierMultiplier: '0.9' })
    assert.deepEqual([estimate.feeCollateral, tiered.feeCollateral], ['3.60072', '3.240648'])
  })
})

describe('the depth of a book', () => {
  it('is nothing without levels, and a price that is none is taken for nothing', () => {
    assert.equal(volumeImpactP(depthSide(null, 'long', 0n), 10n ** 24n), 0n)
    const flat = { market: 'BTC/USD', markPrice: 'x', bids: [], asks: [], timestamp: 0 }
    assert.equal(volumeImpactP(depthSide(flat, 'short', 0n), 10n ** 24n), 0n)
    assert.equal(percentOfFraction('0.0004'), Fraction.of(400_000_000n))
    assert.equal(percentOfFraction('?'), 0n)
    assert.equal(CollateralPrice.decimals, 8)
  })
})
