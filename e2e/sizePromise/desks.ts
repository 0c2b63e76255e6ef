import assert from 'node:assert/strict'
import type { Order } from '@bezel/protocol'
import { createTradingClient, type TradingClient } from '@bezel/testkit/tradingClient.ts'
import type { Address } from 'viem'
import { connectRaw, envelopeOf, postRaw } from '../facade/rawExchange.ts'
import type { SizedMarket, SizeWorld } from './sizeWorld.ts'

/** An order as a test draws it, for either interface. */
export interface DrawnOrder {
  readonly market: SizedMarket
  readonly side: 'long' | 'short'
  readonly type: 'market' | 'limit' | 'stop'
  readonly size: string
  /** Trigger of a resting order, protective price of a market order; `undefined` for none. */
  readonly price: string | undefined
  readonly leverage: string
  readonly collateral: string
  readonly slippage: string
}

/** A trader's way to the service. */
export interface Desk {
  readonly trader: Address
  /** Places an order; `meanwhile` runs between its preparation and its broadcast, where there is such a moment. */
  place(drawn: DrawnOrder, meanwhile: () => Promise<void>): Promise<string>
  /** Changes a resting order to the drawn one. */
  change(id: string, drawn: DrawnOrder, names: readonly ('price' | 'size')[]): Promise<void>
  orderOnce(id: string, isExpected: (order: Order) => boolean): Promise<Order>
}

export async function openNativeDesk(world: SizeWorld, trader: string, agent: string): Promise<Desk> {
  const client = await world.clientOf(trader, agent)
  return {
    trader: client.trader.address,
    async place({ market, price, ...drawn }, meanwhile) {
      const { order, transaction } = await client.prepare({
        ...drawn,
        market: market.symbol,
        ...(price === undefined ? {} : { price }),
      })
      await meanwhile()
      await client.broadcast(transaction)
      return order.id
    },
    async change(id, drawn, names) {
      const body = Object.fromEntries(names.map((name) => [name, drawn[name]]))
      const answer = await client.request('updateOrder', 'PATCH', `/orders/${id}`, body)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      await client.broadcast(answer.body.transaction)
    },
    orderOnce: client.orderOnce,
  }
}

interface FacadeAnswer {
  readonly status: string
  readonly response: { readonly data: { readonly statuses: readonly Record<string, { readonly oid: number }>[] } }
}

/** Opens a desk at the facade. It reads orders natively, to compare the same fields. */
export async function openFacadeDesk(world: SizeWorld, trader: string, agent: string): Promise<Desk> {
  const wallet = await connectRaw(world, trader, agent)
  const { devnet, chain, url } = world
  const reader: TradingClient = await createTradingClient({ devnet, chain, url }, chain.account(trader), wallet)

  async function act(action: Record<string, unknown>): Promise<FacadeAnswer> {
    const { text } = await postRaw(world, await envelopeOf(wallet, action))
    const answer = JSON.parse(text) as FacadeAnswer
    assert.equal(answer.status, 'ok', `${JSON.stringify(action)} ${text}`)
    return answer
  }

  return {
    trader: reader.trader.address,
    async place(drawn, meanwhile) {
      await act({
        type: 'updateLeverage',
        asset: drawn.market.pairIndex,
        isCross: false,
        leverage: Number(drawn.leverage),
      })
      await meanwhile()
      const { response } = await act({ type: 'order', orders: [itemOf(drawn)], grouping: 'na' })
      const [status] = response.data.statuses
      const oid = (status!['filled'] ?? status!['resting'])?.oid
      assert.ok(oid !== undefined, JSON.stringify(status))
      return String(oid)
    },
    async change(id, drawn) {
      await act({ type: 'modify', oid: Number(id), order: itemOf(drawn) })
    },
    orderOnce: reader.orderOnce,
  }
}

/** Returns the order of the facade. One without a price is bounded by a price far beyond the mark. */
function itemOf({ market, side, type, size, price }: DrawnOrder): Record<string, unknown> {
  const isBuy = side === 'long'
  const bound = (market.basePrice * (isBuy ? 1.5 : 0.6)).toFixed(market.pricePrecision)
  const p = price ?? bound
  const trigger = { trigger: { isMarket: true, triggerPx: p, tpsl: 'sl' } }
  const t = type === 'stop' ? trigger : { limit: { tif: type === 'market' ? 'Ioc' : 'Gtc' } }
  return { a: market.pairIndex, b: isBuy, p, s: size, r: false, t }
}
