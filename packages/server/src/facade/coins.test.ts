import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { BaseSize, Leverage, parseDecimal, Price, scaleDecimalTruncated, type Decimal } from '@bezel/protocol'
import fc from 'fast-check'
import { type ChainMarkets, precisionOf } from '../trading/market/chainMarkets.ts'
import { BTC, chainMarkets, symbol } from '../market/testing/fixtures.ts'
import {
  coinsOf,
  nativePrice,
  nativeSize,
  pxText,
  shownSize,
  sizeStep,
  szText,
  wholeSz,
  type Coin,
  defaultLeverage,
} from './coins.ts'
import { nearestPxText, steppedPx } from './priceText.ts'
import { facadeMarkets, PEPE_PRICE } from './testing/facadeWorld.ts'

const decimal = (text: string): Decimal => parseDecimal(text)!

interface Listed {
  readonly pairIndex: number
  readonly name: string
  readonly isTraded: boolean
  readonly reference: Price | undefined
}

function chainOf(listed: readonly Listed[]): ChainMarkets {
  const pairs = listed.map(({ pairIndex, name, reference }) => {
    const [base = '', quote = ''] = name.split('/')
    return { ...BTC, pairIndex, symbol: symbol(name), base, quote, ...precisionOf(reference ?? Price.of(1n)) }
  })
  const traded = pairs.filter((_, at) => listed[at]!.isTraded && listed[at]!.reference !== undefined)
  return {
    ...chainMarkets(),
    pairs: new Map(pairs.map((pair) => [pair.pairIndex, pair])),
    markets: new Map(traded.map((pair) => [pair.symbol, pair])),
    symbols: new Map(pairs.map((pair) => [pair.pairIndex, pair.symbol])),
    referencePrices: new Map(
      listed.flatMap(({ pairIndex, reference }) => (reference === undefined ? [] : [[pairIndex, reference] as const])),
    ),
  }
}

const listings = fc
  .uniqueArray(
    fc.record({
      pairIndex: fc.nat(40),
      name: fc.constantFrom(
        'BTC/USD',
        'USD/JPY',
        'USDJPY/USD',
        'PEPE/USD',
        'KPEPE/USD',
        'A.B/USD',
        'A/EUR',
        'AEUR/USD',
      ),
      isTraded: fc.boolean(),
      reference: fc.option(fc.bigInt({ min: 1n, max: 10n ** 17n }).map(Price.of), { nil: undefined }),
    }),
    { selector: ({ pairIndex }) => pairIndex },
  )
  .map((listed) => listed.toSorted((a, b) => a.pairIndex - b.pairIndex))

describe('the names of coins', () => {
  it('are the base where the quote is USD, else both, with a k where 1,000 units are one coin', () => {
    const names = coinsOf(facadeMarkets()).universe.map(({ name, isDelisted }) => `${name}${isDelisted ? ' -' : ''}`)
    assert.equal(names.length, 22)
    assert.deepEqual(names.slice(0, 10), [
      'BTC',
      'PAIR_1 -',
      'PAIR_2 -',
      'kPEPE',
      'PAIR_4 -',
      'USDJPY',
      'PAIR_6 -',
      'AMZN_7 -',
      'GONE -',
      'AMZN',
    ])
    assert.equal(names[21], 'EUR')
  })

  it('stay, and so does what a coin is, when its market is closed or its price rises', () => {
    const before = { pairIndex: 0, name: 'PEPE/USD', isTraded: true, reference: PEPE_PRICE }
    const [traded] = coinsOf(chainOf([before])).universe
    const [closed] = coinsOf(chainOf([{ ...before, isTraded: false }])).universe
    assert.deepEqual({ ...traded, isDelisted: true }, closed)
    assert.equal(traded?.name, 'kPEPE')
    const [dearer] = coinsOf(chainOf([{ ...before, reference: Price.of(10n ** 7n) }])).universe
    assert.equal(dearer?.name, 'PEPE', '0.001 USD is not below 0.001 USD')
  })

  it('are found in any case, and nothing else is', () => {
    const { named } = coinsOf(facadeMarkets())
    for (const name of ['kPEPE', 'KPEPE', 'kpepe']) assert.equal(named(name)?.pairIndex, 3)
    for (const name of ['', 'PEPE', 'BTC/USD', '__proto__', 'constructor']) assert.equal(named(name), undefined)
  })

  it('are one for each place, unique in upper case, and without what clients give a meaning', () => {
    fc.assert(
      fc.property(listings, (listed) => {
        const chain = chainOf(listed)
        const { universe, named } = coinsOf(chain)
        assert.equal(universe.length, (listed.at(-1)?.pairIndex ?? -1) + 1)
        assert.equal(new Set(universe.map(({ name }) => name.toUpperCase())).size, universe.length)
        for (const [at, coin] of universe.entries()) {
          assert.equal(coin.pairIndex, at)
          assert.equal(named(coin.name), coin)
          assert.match(coin.name, /^[A-Za-z0-9._]+$/)
          assert.ok(coin.szDecimals >= 0 && coin.szDecimals <= 6 && coin.pxDecimals >= 1)
          assert.ok(Number.isInteger(coin.maxLeverage) && coin.maxLeverage >= 1)
        }
        for (const { symbol: of, pairIndex } of chain.markets.values()) {
          assert.equal(universe[pairIndex]?.isDelisted, false, of)
        }
        assert.equal(universe.filter(({ isDelisted }) => !isDelisted).length, chain.markets.size)
      }),
    )
  })

  it('leave the plain name to the market that can be traded', () => {
    const [closed, traded] = coinsOf(
      chainOf([
        { pairIndex: 0, name: 'BTC/USD', isTraded: false, reference: Price.of(10n ** 14n) },
        { pairIndex: 1, name: 'BTC/USD', isTraded: true, reference: Price.of(10n ** 14n) },
      ]),
    ).universe
    assert.deepEqual([closed?.name, traded?.name], ['BTC_0', 'BTC'])
  })
})

describe('prices and sizes of coins', () => {
  const { universe } = coinsOf(facadeMarkets())
  const [btc, pepe] = [universe[0]!, universe[3]!]

  it('of 1,000 units are a thousand times the price and a thousandth of the size', () => {
    assert.deepEqual([pxText(pepe, decimal('0.0000123456')), szText(pepe, decimal('1234567'))], ['0.0123456', '1235'])
    assert.deepEqual([pxText(btc, decimal('60000.5')), szText(btc, decimal('-0.25'))], ['60000.5', '-0.25'])
  })

  it('come back as they were', () => {
    const price = fc
      .bigInt({ min: 1n, max: 10n ** 15n })
      .map((scaled) => decimal(`${scaled / 1000n}.${scaled % 1000n}1`))
    fc.assert(
      fc.property(price, fc.constantFrom<Coin>(btc, pepe), (value, coin) => {
        assert.equal(nativePrice(coin, pxText(coin, value)), value)
        const units = scaleDecimalTruncated(value, 18)
        assert.equal(nativeSize(coin, wholeSz(coin, BaseSize.of(units))), value)
      }),
    )
  })

  it('have always the same number of places, so that clients see the smallest step', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 12n }), fc.constantFrom<Coin>(...universe), (price, coin) => {
        const [down, near, up] = (['down', 'nearest', 'up'] as const).map((way) =>
          steppedPx(coin, Price.of(price), way),
        )
        for (const text of [down!, near!, up!]) assert.equal(text.split('.')[1]?.length, coin.pxDecimals)
        assert.ok(Number(down) <= Number(near) && Number(near) <= Number(up))
        assert.ok(Math.abs(Number(near) - (Number(price) / 1e10) * Number(coin.units)) <= 10 ** -coin.pxDecimals)
      }),
    )
    assert.equal(steppedPx(btc, Price.of(600_000_000_000_000n)), '60000.00')
  })

  it('round sizes to the nearest step of the coin, and never show something as nothing', () => {
    const told = (coin: Coin, ...sizes: string[]): string[] => sizes.map((size) => szText(coin, decimal(size)))
    assert.deepEqual(told(btc, '0.009998233022058666', '-0.009998233022058666'), ['0.01', '-0.01'])
    assert.deepEqual(told(btc, '0.009994999', '0.009995', '-0.009995'), ['0.00999', '0.01', '-0.01'])
    assert.deepEqual(told(btc, '0', '0.00001', '0.0000049', '-0.0000049'), ['0', '0.00001', '0.0000049', '-0.0000049'])
    assert.deepEqual(told(btc, '0.000001234567', '0.000000001', '-0.000000001'), [
      '0.00000123',
      '0.00000001',
      '-0.00000001',
    ])
    assert.deepEqual(told(pepe, '1999.9', '499', '0.001'), ['2', '0.499', '0.000001'])
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }), fc.constantFrom(...universe), (size, coin) => {
        const shown = shownSize(coin, BaseSize.of(size))
        assert.equal(shownSize(coin, shown), shown, 'what was shown is shown the same again')
        assert.equal(shown === 0n, size === 0n)
        assert.ok(shown * size >= 0n)
        assert.ok(2n * (shown > size ? shown - size : size - shown) <= sizeStep(coin))
        assert.ok((wholeSz(coin, shown).split('.')[1]?.length ?? 0) <= 8)
      }),
    )
  })

  it('are executed at the nearest step of the market', () => {
    assert.equal(nearestPxText(btc, decimal('61436.8872975005')), '61436.89')
    assert.equal(nearestPxText(btc, decimal('60000')), '60000.0')
    assert.equal(nearestPxText(pepe, decimal('0.0000123456')), '0.0123456')
    assert.equal(nearestPxText(btc, decimal('0.001')), '0.001', 'not as nothing')
  })
})

describe('the leverage of who never chose one', () => {
  it('is ten, or the nearest whole number that the market takes', () => {
    const cases: [minLeverage: bigint, maxLeverage: bigint, expected: number][] = [
      [1_100n, 200_000n, 10],
      [1_100n, 5_500n, 5],
      [25_500n, 200_000n, 26],
      [10_000n, 10_000n, 10],
      [1_100n, 1_500n, 1],
    ]
    for (const [minLeverage, maxLeverage, expected] of cases) {
      assert.equal(
        defaultLeverage({ minLeverage: Leverage.of(minLeverage), maxLeverage: Leverage.of(maxLeverage) }),
        expected,
      )
    }
  })
})
