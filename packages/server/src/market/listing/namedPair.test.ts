import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { marketGroupOf, isTradable, namePair, tradablePairs, type NamedPair } from './namedPair.ts'

const GROUPS = [
  { name: 'crypto', minLeverage: 1_100n, maxLeverage: 200_000n },
  { name: 'stocks-2', minLeverage: 3_000n, maxLeverage: 40_000n },
]

const FEES = [
  { totalPositionSizeFeeP: 600_000_000, totalLiqCollateralFeeP: 100_000_000_000, minPositionSizeUsd: 1_250_000 },
]

function pair(index: number, name: string, customMaxLeverage = 0n, groupIndex = 0n): NamedPair | undefined {
  const [from = '', to = ''] = name.split('/')
  return namePair(index, { from, to, spreadP: 1n, groupIndex, feeIndex: 0n }, customMaxLeverage, GROUPS, FEES)
}

describe('marketGroupOf', () => {
  it('maps every name of the live groups', () => {
    const groups = {
      crypto: 'crypto',
      altcoins: 'crypto',
      forex: 'forex',
      'forex-minor': 'forex',
      'forex-exotic': 'forex',
      'stocks-1': 'stocks',
      'stocks-3': 'stocks',
      indices: 'indices',
      'commodities-1': 'commodities',
      'commodities-2': 'commodities',
      'something new': 'crypto',
    }
    for (const [name, group] of Object.entries(groups)) assert.equal(marketGroupOf(name), group, name)
  })
})

describe('namePair', () => {
  it('resolves group and fee', () => {
    assert.deepEqual(pair(58, 'AAPL/USD', 0n, 1n), {
      pairIndex: 58,
      symbol: 'AAPL/USD',
      base: 'AAPL',
      quote: 'USD',
      group: 'stocks',
      groupIndex: 1,
      feeIndex: 0,
      minLeverage: 3_000n,
      maxLeverage: 40_000n,
      spreadP: 1n,
      fee: FEES[0],
    })
  })

  it("takes a pair's own largest leverage over its group's, and one below the smallest closes it", () => {
    const limited = pair(0, 'BTC/USD', 50_000n)!
    assert.deepEqual([limited.maxLeverage, isTradable(limited)], [50_000n, true])
    assert.equal(isTradable(pair(0, 'BTC/USD', 1n)!), false)
    assert.equal(isTradable(pair(0, 'BTC/USD', 1_100n)!), true)
  })

  it('strips the suffix of a share after a split, and leaves out what no client could name', () => {
    assert.deepEqual([pair(82, 'AMZN_1/USD')?.symbol, pair(82, 'AMZN_1/USD')?.base], ['AMZN/USD', 'AMZN'])
    for (const name of ['btc/USD', '/USD', 'A B/USD', 'X/']) assert.equal(pair(0, name), undefined, name)
    assert.equal(pair(0, 'BTC/USD', 0n, 9n), undefined, 'a group that does not exist')
  })
})

describe('tradablePairs', () => {
  it('keeps one pair a symbol, the one with the higher index that can be traded, in the order of the index', () => {
    const pairs = [pair(5, 'AMZN/USD'), pair(6, 'BTC/USD'), pair(7, 'AMZN_1/USD'), pair(8, 'BTC/USD', 1n)]
    const found = tradablePairs(pairs.filter((one) => one !== undefined))
    assert.deepEqual(
      found.map(({ symbol, pairIndex }) => [symbol, pairIndex]),
      [
        ['BTC/USD', 6],
        ['AMZN/USD', 7],
      ],
    )
  })
})
