import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  BaseSize,
  CollateralAmount,
  CollateralPrice,
  Leverage,
  PercentP,
  Price,
  TokenSize,
  Usd,
  type OrderType,
} from '@bezel/protocol'
import fc from 'fast-check'
import type { CollateralState, DepthBook, Market } from './chainState.ts'
import { baseSizeOfTokens, positionSizeCollateral, usdOfCollateral } from './collateralAmounts.ts'
import { openPriceBeforeSkew, priceOpen } from './priceImpact.ts'
import { collateralOfNotional, promisedNotional, referencePrice, sizeBought } from './promisedSize.ts'
import { LISTING, MARKET, MOMENT, price, USDC, usdc } from './testing/fixtures.ts'

const WETH: CollateralState = {
  precision: 10n ** 18n,
  precisionDelta: 1n,
  priceUsd: CollateralPrice.of(251_234_567_891n),
}

const size = (units: number): BaseSize => BaseSize.of(BigInt(Math.round(units * 1e8)) * 10n ** 10n)

/** Returns a book of two bands: half of the depth up to 0.5 %, the rest up to 2 %. */
const book = (totalDepthUsd: bigint): DepthBook => ({
  totalDepthUsd,
  sharesBps: [5_000n, 10_000n],
  offsetsPpm: [5_000n, 20_000n],
})

describe('the reference price', () => {
  const cases: readonly [OrderType, boolean, mark: number, trigger: number, expected: number, name: string][] = [
    ['market', true, 100, 190, 100, 'of a market order is the mark, whatever price it names'],
    ['market', false, 100, 10, 100, 'of a market order that sells too'],
    ['limit', true, 100, 90, 90, 'of a limit that buys is its trigger'],
    ['limit', true, 100, 120, 100, 'of a limit that buys above the mark is the mark'],
    ['limit', false, 100, 110, 110, 'of a limit that sells is its trigger'],
    ['limit', false, 100, 80, 100, 'of a limit that sells below the mark is the mark'],
    ['stop', true, 100, 110, 110, 'of a stop that buys is its trigger'],
    ['stop', true, 100, 90, 100, 'of a stop that buys and is passed is the mark'],
    ['stop', false, 100, 90, 90, 'of a stop that sells is its trigger'],
    ['stop', false, 100, 110, 100, 'of a stop that sells and is passed is the mark'],
    ['limit', true, 100, 100, 100, 'at the mark is both'],
  ]
  for (const [type, long, mark, trigger, expected, name] of cases) {
    it(name, () => assert.equal(referencePrice(type, long, price(mark), price(trigger)), price(expected)))
  }
})

describe('the notional of a size', () => {
  const promised = (long: boolean, units: number, market: Market = MARKET) =>
    promisedNotional({ long, size: size(units), reference: price(60_000) }, market, MOMENT)

  it('has half of the spread on top of the reference, or off it', () => {
    assert.equal(Usd.format(promised(true, 0.01)), '600.12')
    assert.equal(Usd.format(promised(false, 0.01)), '599.88')
  })

  it("has the trader's own spread", () => {
    const market = { ...MARKET, terms: { ...MARKET.terms, fixedSpreadP: 100 } }
    assert.equal(Usd.format(promised(true, 0.01, market)), '600.42')
  })

  it('has the impact of itself and of the volume before it, but no skew', () => {
    const listing = { ...LISTING, depthAbove: book(1_000_000n), spreadP: PercentP.zero }
    const deep = { ...MARKET, listing, pair: { ...MARKET.pair, skewDepth: TokenSize.of(10n ** 18n) } }
    // 600,000 USD through the first band of 500,000 and a fifth of the second: about 0.165 % at half of the average.
    const alone = promised(true, 10, deep)
    assert.equal(alone, (size(10) * openPriceBeforeSkew(true, alone, price(60_000), deep, MOMENT).price) / Price.one)
    assert.ok(alone > 600_900n * Usd.one && alone < 601_100n * Usd.one, Usd.format(alone))
    const windows = new Map([[16, { oiLongUsd: Usd.of(500_000n * Usd.one), oiShortUsd: Usd.zero }]])
    const after = promised(true, 10, { ...deep, volume: { ...deep.volume, windows } })
    assert.ok(after > alone + 1_000n * Usd.one)
    assert.ok(promised(false, 10, { ...deep, volume: { ...deep.volume, windows } }) === 600_000n * Usd.one)
  })

  it("counts the volume of the windows that are open at the order's time, not at the time of the last read", () => {
    const listing = { ...LISTING, depthAbove: book(1_000_000n) }
    const windows = new Map([[13, { oiLongUsd: Usd.of(500_000n * Usd.one), oiShortUsd: Usd.zero }]])
    const market = { ...MARKET, listing, volume: { ...MARKET.volume, windows } }
    const at = (timestampS: number) =>
      promisedNotional({ long: true, size: size(1), reference: price(60_000) }, market, { ...MOMENT, timestampS })
    // Window 13 counts until second 1020, with four windows of a minute.
    assert.ok(at(1_019) > at(1_020))
  })
})

describe('the collateral of a notional', () => {
  it("is rounded up to the token's unit", () => {
    const usd = Usd.of(600n * Usd.one)
    assert.equal(collateralOfNotional(usd, Leverage.of(10_000n), USDC), usdc(60))
    assert.equal(collateralOfNotional(Usd.of(usd + 1n), Leverage.of(10_000n), USDC), usdc(60.000001))
    assert.equal(collateralOfNotional(usd, Leverage.of(7_000n), USDC), usdc(85.714286))
  })
})

interface Order {
  readonly long: boolean
  readonly size: BaseSize
  readonly reference: Price
  readonly leverage: Leverage
  readonly market: Market
}

const order: fc.Arbitrary<Order> = fc
  .record({
    long: fc.boolean(),
    priceUnits: fc.bigInt({ min: 10n ** 5n, max: 10n ** 15n }),
    notionalUsd: fc.bigInt({ min: 50n, max: 3_000_000n }),
    leverage: fc.bigInt({ min: 1_100n, max: 150_000n }),
    spreadP: fc.bigInt({ min: 0n, max: 10n ** 10n }),
    depth: fc.constantFrom(0n, 5_000_000n, 200_000_000n),
    before: fc.bigInt({ min: 0n, max: 4_000_000n }),
    fixedSpreadP: fc.constantFrom(0, 0, 35),
    multiplier: fc.constantFrom(0, 0, 1_700),
    collateral: fc.constantFrom(USDC, WETH, { ...USDC, priceUsd: CollateralPrice.of(99_912_345n) }),
  })
  // To 8 decimals, as an order names it.
  .map((of) => ({ ...of, asked: ((of.notionalUsd * 10n ** 18n) / of.priceUnits + 1n) * 10n ** 10n }))
  .map((of) => ({
    long: of.long,
    size: BaseSize.of(of.asked),
    reference: Price.of(of.priceUnits),
    leverage: Leverage.of(of.leverage),
    market: {
      ...MARKET,
      collateral: of.collateral,
      terms: { ...MARKET.terms, fixedSpreadP: of.fixedSpreadP, cumulVolPriceImpactMultiplier: of.multiplier },
      listing: {
        ...LISTING,
        spreadP: PercentP.of(of.spreadP),
        depthAbove: book(of.depth),
        depthBelow: book(of.depth),
      },
      pair: { ...MARKET.pair, skewDepth: TokenSize.of(of.asked * 1_000n), oiLongToken: TokenSize.of(of.asked * 2n) },
      volume: {
        ...MARKET.volume,
        windows: new Map([
          [16, { oiLongUsd: Usd.of(of.before * Usd.one), oiShortUsd: Usd.of((of.before * Usd.one) / 3n) }],
        ]),
      },
    },
  }))

/** A rule that finds the collateral of an order. */
type Rule = (order: Order) => CollateralAmount

const promise: Rule = ({ leverage, market, ...trade }) =>
  collateralOfNotional(promisedNotional(trade, market, MOMENT), leverage, market.collateral)

/** Executes an order by the Diamond's own formula when nothing has moved. Returns what is bought, in base units. */
function filled(rule: Rule, made: Order): { readonly size: BaseSize; readonly price: Price } {
  const { long, leverage, market, reference } = made
  const sizeCollateral = positionSizeCollateral({ collateralAmount: rule(made), leverage: Number(leverage) })
  const impact = priceOpen(long, sizeCollateral, reference, market, MOMENT)
  return {
    size: baseSizeOfTokens(impact.positionSizeToken, market.collateral.priceUsd),
    price: openPriceBeforeSkew(long, usdOfCollateral(sizeCollateral, market.collateral), reference, market, MOMENT)
      .price,
  }
}

/**
 * True when the fill has the order's size, to one unit of the collateral times leverage. The Diamond's other units
 * count where they weigh more: that of a price (ten decimals) for coins that cost nearly nothing, that of an impact
 * (twelve decimals) for a notional of a million, and that of its sizes (18 decimals, in collateral) for tokens of 18
 * decimals.
 */
function isKept(rule: Rule, made: Order): boolean {
  const fill = filled(rule, made)
  const { precisionDelta, priceUsd } = made.market.collateral
  const off = fill.size > made.size ? fill.size - made.size : made.size - fill.size
  const unitUsd = (precisionDelta * priceUsd) / CollateralPrice.one + 1n
  const sizeUnit = priceUsd / CollateralPrice.one + 2n
  const impactUsd = (2n * made.size * made.reference) / Price.one / 10n ** 12n
  const allowedUsd = (unitUsd * made.leverage) / Leverage.one + 1n + made.size / Price.one + impactUsd
  return ((off - sizeUnit) * fill.price) / Price.one <= allowedUsd
}

describe('a size is a promise', () => {
  it('kept to one unit of the collateral times leverage when nothing moves, and never broken downwards', () => {
    fc.assert(
      fc.property(order, (made) => {
        assert.ok(isKept(promise, made))
        const { size: bought } = filled(promise, made)
        // Below the promised size at most by the truncations of the Diamond, and by one unit of the price.
        assert.ok(made.size - bought <= made.size / 10n ** 9n + (made.size * 2n) / made.reference + 10n ** 12n)
      }),
      { numRuns: 2_000 },
    )
  })

  const faults: Readonly<Record<string, Rule>> = {
    'size x reference, as before': ({ size: asked, reference, leverage, market }) =>
      collateralOfNotional(Usd.of((asked * reference) / Price.one), leverage, market.collateral),
    'the price after skew': ({ long, size: asked, reference, leverage, market }) => {
      const around = promise({ long, size: asked, reference, leverage, market })
      const sizeCollateral = positionSizeCollateral({ collateralAmount: around, leverage: Number(leverage) })
      const { priceAfterImpact } = priceOpen(long, sizeCollateral, reference, market, MOMENT)
      return collateralOfNotional(Usd.of((asked * priceAfterImpact) / Price.one), leverage, market.collateral)
    },
    'the first step of the search alone': ({ long, size: asked, reference, leverage, market }) => {
      const start = Usd.of((asked * reference) / Price.one)
      const { price: first } = openPriceBeforeSkew(long, start, reference, market, MOMENT)
      return collateralOfNotional(Usd.of((asked * first) / Price.one), leverage, market.collateral)
    },
    "the token's price of another moment": (made) => {
      const { collateral } = made.market
      const priceUsd = CollateralPrice.of((collateral.priceUsd * 10_001n) / 10_000n)
      return promise({ ...made, market: { ...made.market, collateral: { ...collateral, priceUsd } } })
    },
  }
  for (const [name, rule] of Object.entries(faults)) {
    it(`would be broken by ${name}`, () => {
      const property = fc.property(order, (made) => isKept(rule, made))
      assert.equal(fc.check(property, { numRuns: 500 }).failed, true)
    })
  }

  it('would be broken by rounding down', () => {
    const down: Rule = ({ leverage, market, ...trade }) => {
      const up = collateralOfNotional(promisedNotional(trade, market, MOMENT), leverage, market.collateral)
      return CollateralAmount.of(up - 1n)
    }
    const property = fc.property(order, (made) => {
      fc.pre(made.market.collateral.precisionDelta > 1n && made.reference > 10n ** 12n)
      return filled(down, made).size >= made.size
    })
    assert.equal(fc.check(property, { numRuns: 500 }).failed, true)
  })
})

describe('the size that held collateral buys', () => {
  it('is the promised size, as long as nothing moves', () => {
    fc.assert(
      fc.property(order, (made) => {
        const { long, leverage, market, reference } = made
        const trade = { long, collateralAmount: promise(made), leverage: Number(leverage) }
        const bought = sizeBought(trade, reference, market, MOMENT)
        const { size: exact } = filled(promise, made)
        const off = bought > exact ? bought - exact : exact - bought
        assert.ok(off <= market.collateral.priceUsd / CollateralPrice.one + 2n + made.size / 10n ** 15n)
      }),
    )
  })
})
