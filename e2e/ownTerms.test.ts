import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { diamondAbi, type Position } from '@bezel/protocol'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { until } from '@bezel/testkit/until.ts'
import { formatUnits, parseUnits } from 'viem'
import { startSizeWorld, type SizedMarket, type SizeWorld } from './sizePromise/sizeWorld.ts'

// Governance gives a trader a spread of its own while its position is open, and no event of the local Diamond tells it.
// The Diamond's own view says what that does to the liquidation price.

const LONG = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.01', leverage: '10' }

const INDEX = parseUnits('60000', 10)

/** Own spread, 1e3 per percent. With half of the pair's it stays below the largest spread of a liquidation. */
const OWN_SPREAD_P = 35

/** The difference that fees make between two reads is far below this, and that of the spread, 10 USD, far above. */
const TOLERANCE_USD = 1

describe('a trader with a spread of its own', () => {
  let world: SizeWorld
  let btc: SizedMarket
  let own: TradingClient
  let ordinary: TradingClient

  before(async () => {
    world = await startSizeWorld()
    btc = world.markets.find(({ symbol }) => symbol === 'BTC/USD')!
    own = await world.clientOf('trader-1', 'agent-1')
    ordinary = await world.clientOf('trader-2', 'agent-2')
    for (const client of [own, ordinary]) await client.trade(LONG, 'filled')
  })
  after(() => world?.stop())

  /** Returns the liquidation price of a trader's only position by the Diamond's view. */
  async function onChain({ trader: { address: trader } }: TradingClient): Promise<number> {
    const { client, diamond: address } = world.chain
    const at = { address, abi: diamondAbi } as const
    const trades = await client.readContract({ ...at, functionName: 'getTrades', args: [trader] })
    const { index, collateralAmount, leverage, ...trade } = trades[0]!
    const liquidationParams = await client.readContract({
      ...at,
      functionName: 'getTradeLiquidationParams',
      args: [trader, index],
    })
    const input = {
      ...trade,
      trader,
      index,
      collateral: collateralAmount,
      leverage: BigInt(leverage),
      additionalFeeCollateral: 0n,
      liquidationParams,
      currentPairPrice: INDEX,
      partialCloseMultiplier: 10n ** 18n,
      beforeOpened: false,
    }
    const price = await client.readContract({ ...at, functionName: 'getTradeLiquidationPrice', args: [input] })
    return Number(formatUnits(price, 10))
  }

  async function shown(client: TradingClient): Promise<number> {
    const { status, body } = await client.account('/positions', 'listPositions')
    const [position] = status === 200 ? (body.data as Position[]) : []
    return Number(position?.liquidationPrice)
  }

  async function shownByFacade({ trader }: TradingClient): Promise<number> {
    const { assetPositions } = await world.info({ type: 'clearinghouseState', user: trader.address })
    return Number(assetPositions[0].position.liquidationPx)
  }

  const isNear = (a: number, b: number): boolean => Math.abs(a - b) < TOLERANCE_USD

  it("is shown the Diamond's liquidation price, and so is everybody else", async () => {
    for (const client of [own, ordinary]) assert.ok(isNear(await shown(client), await onChain(client)))
    const earlier = await onChain(own)
    await world.setTerms(own.trader.address, btc, OWN_SPREAD_P, 0)
    const expected = await onChain(own)
    assert.ok(expected - earlier > 9, `${earlier} became ${expected}`)
    await until('the service has read the terms', async (saw) => {
      const price = await shown(own)
      saw(price)
      return isNear(price, expected)
    })
    assert.ok(isNear(await shownByFacade(own), expected))
    for (const show of [shown, shownByFacade]) assert.ok(isNear(await show(ordinary), await onChain(ordinary)))
  })

  it('still is after a crash, although nothing keeps the terms', async () => {
    await world.crash()
    const expected = await onChain(own)
    await until('the service has read the terms again', async (saw) => {
      const price = await shown(own)
      saw(price)
      return isNear(price, expected)
    })
  })
})
