import { diamondAbi, Price, type Address, type Hex, type OrderId } from '@bezel/protocol'
import { encodeAbiParameters, encodeEventTopics, numberToHex } from 'viem'
import { listAttempts } from '../../store/attemptStore.ts'
import { insertOrderEvent, type OrderHandle } from '../../store/orderEventStore.ts'
import type { Attempt, ChainPlace, OrderEvent } from '../../trading/orders/orderModel.ts'
import { POSITION, TRADE, usdc } from '../../trading/valuation/testing/fixtures.ts'
import type { Trade } from '../../trading/valuation/chainState.ts'
import { NO_JOURNAL } from '../../journal/testing/testLog.ts'
import { refoldOrder } from '../../journal/refold.ts'
import { TRADER, type OrdersWorld } from './ordersWorld.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'

export const hashOf = (n: number): Hex => numberToHex(n, { size: 32 }) as Hex

/** Reads the newest attempt of an order. */
export async function lastAttempt(world: OrdersWorld, id: string): Promise<Attempt> {
  return (await listAttempts(world.opened.store.read, id as OrderId)).at(-1)!
}

type BodyOf<Event> = Event extends OrderEvent
  ? Omit<Event, keyof ChainPlace | 'attemptId'> & Partial<ChainPlace>
  : never

/** An event without the fields that `happen` fills in. */
type EventBody = BodyOf<OrderEvent>

/** Adds an event to an order as the follower does: in a block of its own, caused by the newest attempt. */
export async function happen(
  world: OrdersWorld,
  id: string,
  event: EventBody,
  handle: OrderHandle | null = null,
): Promise<void> {
  const blockNumber = (world.headBlock += 1)
  const place = { blockNumber, blockHash: hashOf(blockNumber), logIndex: 0, txHash: hashOf(blockNumber) }
  const attempt = await lastAttempt(world, id)
  const full: OrderEvent = { ...place, timestampMs: world.market.nowMs, attemptId: attempt.id, ...event }
  await world.opened.store.transaction(TEST_SCOPE, async (sql) => {
    await insertOrderEvent(sql, { chain: 'arbitrum', trader: TRADER, orderId: id as OrderId, handle, event: full })
    await refoldOrder(sql, id as OrderId, world.orders.clock(), NO_JOURNAL)
  })
}

/** Adds the events of a replacement: the order is cancelled and placed again. */
export async function replaced(world: OrdersWorld, id: string, changes: Placement = {}): Promise<void> {
  await happen(world, id, { kind: 'canceled' })
  await placed(world, id, { tradeIndex: world.headBlock, ...changes })
}

type Placement = Partial<Pick<Extract<OrderEvent, { kind: 'placed' }>, 'tradeIndex' | 'price' | 'collateralAmount'>>

/** Adds the event that places the order, by default at 50,000 with trade index 4 and 500.1 USDC. */
export function placed(world: OrdersWorld, id: string, changes: Placement = {}): Promise<void> {
  const { tradeIndex = 4, price = Price.of(50_000n * Price.one), collateralAmount = usdc(500.1) } = changes
  return happen(
    world,
    id,
    { kind: 'placed', tradeIndex, collateralAmount, price, sl: Price.zero, tp: Price.zero, slippageP: 1_000 },
    `trade:${tradeIndex}`,
  )
}

/** Returns the log of a resting order as a node returns it. */
export function tradeStoredLog(diamond: Address, changes: Partial<Trade> = {}) {
  const trade = { ...TRADE, user: TRADER, tradeType: 1, __placeholder: 0, ...changes }
  const info = {
    createdBlock: 1,
    tpLastUpdatedBlock: 1,
    slLastUpdatedBlock: 1,
    maxSlippageP: 1_000,
    lastOiUpdateTs: 0,
    collateralPriceUsd: 10n ** 8n,
    contractsVersion: 2,
    lastPosIncreaseBlock: 0,
    __placeholder: 0,
  }
  const inputs = diamondAbi.find((item) => item.type === 'event' && item.name === 'TradeStored')!.inputs
  const args = { user: trade.user, index: trade.index }
  const topics = encodeEventTopics({ abi: diamondAbi, eventName: 'TradeStored', args } as never)
  const plain = inputs.filter((input) => !('indexed' in input && input.indexed))
  const data = encodeAbiParameters(plain as never, [trade, info, POSITION.liquidationParams] as never)
  return { address: diamond, topics, data }
}
