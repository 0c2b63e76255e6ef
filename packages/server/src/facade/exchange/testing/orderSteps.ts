import { diamondAbi, type OrderId } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { decodeFunctionData } from 'viem'
import { closePosition } from '../../../orders/closePosition.ts'
import { findOrder } from '../../../store/orderStore.ts'
import type { LivePosition } from '../../../trading/positions/positionModel.ts'
import { gtc, orderAction, orderItem, requested, statusesOf, TRADER, type ExchangeWorld } from './exchangeWorld.ts'

type Item = ReturnType<typeof orderItem>

/** Returns the steps that tests of orders share, in the world of the running test. */
export function orderSteps(world: () => ExchangeWorld) {
  const place = async (...items: Item[]) => statusesOf(await world().send(orderAction(...items)))
  const restingOid = (status: unknown): number => (status as { resting: { oid: number } }).resting.oid
  const decoded = (data: unknown) => decodeFunctionData({ abi: diamondAbi, data: data as `0x${string}` })
  /** Decodes the call of the Diamond that the relayer took, by default the last one. */
  const callsOf = (at = -1) => {
    const outer = decoded(world().relayer.taken.at(at)!.attempt.calldata)
    assert.equal(outer.functionName, 'delegatedTradingAction')
    assert.equal(outer.args?.[0], TRADER)
    return decoded(outer.args[1])
  }
  return {
    place,
    /** Places an order that rests. */
    rest: async (changes = {}) => restingOid((await place(orderItem({ p: '50000', t: gtc, ...changes })))[0]),
    /** Places an order, and expects an error with nothing sent. */
    async errorOf(item: Item): Promise<string> {
      const [status] = await place(item)
      assert.deepEqual(Object.keys(status as object), ['error'])
      assert.equal(world().relayer.taken.length, world().relayer.broadcasts.length)
      return (status as { error: string }).error
    },
    stored: async (oid: number | string) => (await findOrder(world().parts.store.read, String(oid) as OrderId))!,
    callsOf,
    /** Lists the calls of the trader in a transaction that the relayer took, each as its name and arguments. */
    innerCalls(at = -1): readonly (readonly unknown[])[] {
      const call = callsOf(at)
      const calls = call.functionName === 'multicall' ? (call.args[0] as readonly unknown[]).map(decoded) : [call]
      return calls.map(({ functionName, args }) => [functionName, ...(args as readonly unknown[])])
    },
    /** Lets time pass, in which BTC/USD keeps its price. */
    pass(ms: number): void {
      const { market } = world().base
      market.nowMs += ms
      market.quotes.set(0, { ...market.quotes.get(0)!, updatedAtMs: market.nowMs })
    },
    cancel: (oid: number) => world().send({ type: 'cancel', cancels: [{ a: 0, o: oid }] }),
    restingOid,
    /** Asks natively for a close within 0.05 %, which waits for the oracle. Returns the id of its order. */
    async closeTightly({ record: { id, chain, trader } }: LivePosition): Promise<OrderId> {
      const { registry, orders, relayer } = world().parts
      const [agent] = await registry.agentsOf(chain, trader)
      const relay = { sender: relayer.address, take: async () => {} }
      const write = { agent: agent!, claim: async () => true, relay }
      const { order } = await closePosition(orders, write, id, { slippage: '0.05' })
      await world().happen(order.id, requested)
      world().turn(id, { maxClosingSlippageP: 50 })
      return order.id as OrderId
    },
  }
}
