import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { diamondAbi, Price, Usd, type PreparedTransaction } from '@bezel/protocol'
import { decodeFunctionData, type Hex } from 'viem'
import { BTC, chainMarkets } from '../market/testing/fixtures.ts'
import { LISTING, usdc } from '../trading/valuation/testing/fixtures.ts'
import { createOrder } from './createOrder.ts'
import { MARKET_BODY, openOrdersWorld, type OrdersWorld } from './testing/ordersWorld.ts'
import { ok, reverted } from './testing/scriptedNode.ts'

/** Returns the collateral of the `openTrade` inside a delegation. */
function collateralIn({ data }: PreparedTransaction): bigint {
  const outer = decodeFunctionData({ abi: diamondAbi, data: data as Hex })
  const { args } = decodeFunctionData({ abi: diamondAbi, data: outer.args![1] as Hex })
  return (args![0] as { collateralAmount: bigint }).collateralAmount
}

/** Returns the chain with a depth of one band for BTC: 1,000,000 USD to 1 %, and its volume known. */
function deepChain() {
  const chain = chainMarkets()
  const band = { totalDepthUsd: 1_000_000n, sharesBps: [10_000n], offsetsPpm: [10_000n] }
  const market = { ...BTC, listing: { ...LISTING, depthAbove: band, depthBelow: band } }
  const settings = { startTs: 0, windowsDuration: 60, windowsCount: 4 }
  return {
    ...chain,
    pairs: new Map(chain.pairs).set(0, market),
    markets: new Map(chain.markets).set(BTC.symbol, market),
    volumes: new Map([[0, { settings, windows: new Map() }]]),
  }
}

describe('an order is sized by what the chain says while it is simulated', () => {
  let world: OrdersWorld
  beforeEach(async () => {
    world = await openOrdersWorld()
    await world.register()
  })
  afterEach(() => world.remove())

  async function create(body = MARKET_BODY): Promise<{ readonly amount: bigint; readonly trips: number }> {
    const before = world.node.roundTrips()
    const { prepared } = await createOrder(world.orders, world.write(), body)
    return { amount: collateralIn(prepared.transaction!), trips: world.node.roundTrips() - before }
  }

  it('takes one round trip when that is what was known', async () => {
    assert.deepEqual(await create(), { amount: usdc(600.12), trips: 1 })
    world.market.chain = deepChain()
    const { amount, trips } = await create()
    assert.ok(amount > usdc(600.12))
    assert.equal(trips, 1)
  })

  it("takes a second one for a trader's own terms, which are remembered", async () => {
    world.node.terms.fixedSpreadP = 100
    assert.deepEqual(await create(), { amount: usdc(600.42), trips: 2 })
    assert.deepEqual(await create(), { amount: usdc(600.42), trips: 1 })
    world.node.terms.fixedSpreadP = 0
    assert.deepEqual(await create(), { amount: usdc(600.12), trips: 2 })
    assert.deepEqual(await create(), { amount: usdc(600.12), trips: 1 })
  })

  it('takes a second one for volume that was traded since the last read', async () => {
    world.market.chain = deepChain()
    const before = await create()
    world.node.volumeUsd = { oiLongUsd: 100_000n * Usd.one, oiShortUsd: 0n }
    const after = await create()
    assert.equal(after.trips, 2)
    assert.ok(after.amount > before.amount)
    // The other side did not trade.
    assert.equal((await create({ ...MARKET_BODY, side: 'short' })).trips, 1)
  })

  it("takes a second one for another price of the collateral's token", async () => {
    world.node.priceUsd = () => 99_000_000n
    assert.deepEqual(await create(), { amount: 606_181_819n, trips: 2 })
  })

  it('takes no second one for another mark', async () => {
    world.node.whileAsked = () => {
      const quote = world.market.quotes.get(0)!
      world.market.quotes.set(0, { ...quote, mark: Price.of(quote.mark + 1_000n * Price.one) })
    }
    assert.deepEqual(await create(), { amount: usdc(600.12), trips: 1 })
  })

  it('gives a refusal only for the exact amount', async () => {
    world.node.terms.fixedSpreadP = 100
    world.node.simulation = reverted('0x')
    world.node.whileAsked = () => {
      if (world.node.roundTrips() === 2) world.node.simulation = ok('0x')
    }
    assert.deepEqual(await create(), { amount: usdc(600.42), trips: 2 })
    world.node.whileAsked = () => undefined
    world.node.simulation = reverted('0x')
    await assert.rejects(create(), { code: 'SIMULATION_REVERTED' })
    assert.equal(world.node.roundTrips(), 3)
  })

  it('ends after three, however fast the pair trades', async () => {
    world.market.chain = deepChain()
    world.node.whileAsked = () => {
      world.node.volumeUsd = { oiLongUsd: world.node.volumeUsd.oiLongUsd + 10_000n * Usd.one, oiShortUsd: 0n }
    }
    assert.equal((await create()).trips, 3)
  })
})
