import { diamondAbi, type OrderId } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { decodeFunctionData } from 'viem'
import { findOrder } from '../../../store/orderStore.ts'
import { orderAction, statusesOf, TRADER, type ExchangeWorld, type orderItem } from './exchangeWorld.ts'

type Item = ReturnType<typeof orderItem>

/** Returns the steps that tests of orders share, in the world of the running test. */
export function orderSteps(world: () => ExchangeWorld) {
  const place = async (...items: Item[]) => statusesOf(await world().send(orderAction(...items)))
  return {
    place,
    /** Places an order, and expects an error with nothing sent. */
    async errorOf(item: Item): Promise<string> {
      const [status] = await place(item)
      assert.deepEqual(Object.keys(status as object), ['error'])
      assert.equal(world().relayer.taken.length, world().relayer.broadcasts.length)
      return (status as { error: string }).error
    },
    stored: async (oid: number | string) => (await findOrder(world().parts.store.read, String(oid) as OrderId))!,
    /** Decodes the call of the Diamond that the relayer took, by default the last one. */
    callsOf(at = -1) {
      const { calldata } = world().relayer.taken.at(at)!.attempt
      const outer = decodeFunctionData({ abi: diamondAbi, data: calldata as `0x${string}` })
      assert.equal(outer.functionName, 'delegatedTradingAction')
      assert.equal(outer.args?.[0], TRADER)
      return decodeFunctionData({ abi: diamondAbi, data: outer.args[1] as `0x${string}` })
    },
    cancel: (oid: number) => world().send({ type: 'cancel', cancels: [{ a: 0, o: oid }] }),
    restingOid: (status: unknown): number => (status as { resting: { oid: number } }).resting.oid,
  }
}
