import { Leverage } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { createMarketReads, type MarketReads } from './marketReads.ts'
import { BTC, chainMarkets, createWorld, EUR, portsOf, type MarketWorld } from './testing/fixtures.ts'

describe('what is left out of the markets', () => {
  let world: MarketWorld
  let reads: MarketReads
  beforeEach(() => {
    world = createWorld()
    reads = createMarketReads(portsOf(world))
  })

  const listed = (): string[] =>
    (JSON.parse(reads.markets().toString()) as { data: { symbol: string }[] }).data.map(({ symbol }) => symbol)

  it('is nothing while every pair has a price, and before anything is known', () => {
    assert.deepEqual(reads.leftOut(), [])
    world.quotes.delete(21)
    world.hasSnapshot = false
    assert.deepEqual(reads.leftOut(), [])
    world.hasSnapshot = true
    world.chain = undefined
    assert.deepEqual(reads.leftOut(), [])
  })

  it('is a pair without a price, whether or not it ever had one, and the others are listed', () => {
    world.quotes.delete(21)
    assert.deepEqual([reads.leftOut(), listed()], [['EUR/USD'], ['BTC/USD']])
    world.chain = { ...chainMarkets(), markets: new Map([[BTC.symbol, BTC]]) }
    world.version += 1
    assert.deepEqual([reads.leftOut(), listed()], [['EUR/USD'], ['BTC/USD']])
  })

  it('is no pair that is closed to new trades', () => {
    const closed = { ...EUR, maxLeverage: Leverage.of(EUR.minLeverage - 1n) }
    const chain = chainMarkets()
    world.quotes.delete(21)
    world.chain = { ...chain, pairs: new Map(chain.pairs).set(21, closed), markets: new Map([[BTC.symbol, BTC]]) }
    assert.deepEqual(reads.leftOut(), [])
  })
})
