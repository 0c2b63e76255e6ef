import { diamondAbi, TokenSize, type OrderId } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { decodeFunctionData } from 'viem'
import { findOrder } from '../../store/orderStore.ts'
import {
  openExchangeWorld,
  orderAction,
  orderItem,
  statusesOf,
  trigger,
  type ExchangeWorld,
} from './testing/exchangeWorld.ts'

// Positions whose size has more decimals than clients are shown, such as 0.016663333999866693 BTC.

const SIZE = 16_663_333_999_866_693n

describe('the size that clients are shown of a position', () => {
  let world: ExchangeWorld

  beforeEach(async () => {
    world = await openExchangeWorld()
  })
  afterEach(() => world.remove())

  /** Sends a reducing order and returns the resulting calls, one for each position. */
  async function reduce(s: string): Promise<readonly string[]> {
    const [status] = statusesOf(await world.send(orderAction(orderItem({ b: false, p: '59000', s, r: true }))))
    assert.ok('resting' in (status as object), JSON.stringify(status))
    const { calldata } = world.relayer.taken.at(-1)!.attempt
    const outer = decodeFunctionData({ abi: diamondAbi, data: calldata as `0x${string}` })
    return callsIn(outer.args![1] as `0x${string}`).filter((name) => name !== 'updateMaxClosingSlippageP')
  }

  function callsIn(data: `0x${string}`): string[] {
    const { functionName, args } = decodeFunctionData({ abi: diamondAbi, data })
    return functionName === 'multicall' ? (args[0] as `0x${string}`[]).flatMap(callsIn) : [functionName]
  }

  it('closes all of it', async () => {
    await world.hold()
    assert.deepEqual(await reduce('0.01666'), ['closeTradeMarket'])
    assert.deepEqual(await reduce('0.01'), ['decreasePositionSize'])
    assert.deepEqual(await reduce('0.02'), ['closeTradeMarket'], 'more than there is')
  })

  it('closes all of several, whatever each of them has beyond it', async () => {
    // The sum is 0.049976666 BTC. The second and third sizes have more beyond the size step than the sum.
    for (const size of [SIZE, SIZE - 7_333_999_866_693n + 9_999_000_000_000n, SIZE]) {
      await world.hold({ positionSizeToken: TokenSize.of(size) })
    }
    const held = 2n * SIZE + SIZE - 7_333_999_866_693n + 9_999_000_000_000n
    const shown = (Number(held / 10n ** 13n) / 1e5).toFixed(5)
    assert.deepEqual(await reduce(shown), ['closeTradeMarket', 'closeTradeMarket', 'closeTradeMarket'])
    assert.deepEqual(await reduce('0.03'), ['closeTradeMarket', 'decreasePositionSize'])
  })

  it('is kept as the size of the order that was asked for', async () => {
    await world.hold()
    await reduce('0.01666')
    const [status] = statusesOf(
      await world.send(orderAction(orderItem({ b: false, p: '59000', s: '0.01666', r: true }))),
    )
    const { oid } = (status as { resting: { oid: number } }).resting
    const { record } = (await findOrder(world.parts.store.read, String(oid) as OrderId))!
    assert.equal(record.request.size, '0.01666')
  })

  it('is enough for its stop loss, and a step less is not', async () => {
    await world.hold()
    const stop = (s: string) => orderAction(orderItem({ b: false, s, r: true, t: trigger('sl', '55000') }))
    assert.ok('resting' in (statusesOf(await world.send(stop('0.01666')))[0] as object))
    assert.match((statusesOf(await world.send(stop('0.01665')))[0] as { error: string }).error, /^TP\/SL orders are/)
  })
})
