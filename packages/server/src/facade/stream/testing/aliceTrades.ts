import type { LivePosition } from '../../../trading/positions/positionModel.ts'
import { Usd, type FillHistoryEntry, type Hex, type Order, type OrderId } from '@bezel/protocol'
import { insertFill } from '../../../store/fillStore.ts'
import { sampleFill } from '../../../store/testing/sampleFill.ts'
import { insertOrderEvent } from '../../../store/orderEventStore.ts'
import { findOrder, insertOrder, saveOrderState } from '../../../store/orderStore.ts'
import { insertPosition, savePositionState } from '../../../store/positionStore.ts'
import type { Store } from '../../../store/sql.ts'
import { orderAnswer, type OrderEvent, type OrderRecord, type OrderState } from '../../../trading/orders/orderModel.ts'
import { answerInfo } from '../../info/infoTypes.ts'
import { ALICE } from '../../testing/facadeWorld.ts'
import { HASH, REQUEST, STATE } from '../../testing/restingOrder.ts'
import type { FacadeStreamWorld } from './facadeStreamWorld.ts'
import { TEST_SCOPE } from '../../../store/testing/testScope.ts'

// Helpers that store Alice's orders and executions.

/** Stores an order. */
export async function placeOrder(store: Store, id: number, changes: Partial<OrderRecord> = {}): Promise<void> {
  const record: OrderRecord = {
    id: String(id) as OrderId,
    chain: 'base',
    trader: ALICE,
    agent: null,
    originKey: `tx:${id}`,
    request: REQUEST,
    createdAtMs: 1_000 + id,
    spendUsd: Usd.zero,
    ...changes,
  }
  await store.transaction(TEST_SCOPE, async (sql) => {
    await insertOrder(sql, record)
    await saveOrderState(sql, record.id, STATE, undefined)
  })
}

/** Changes a stored order, and returns it as its event would contain it. */
export async function moveOrder(store: Store, id: number, changes: Partial<OrderState>): Promise<Order> {
  const stored = (await findOrder(store.read, String(id) as OrderId))!
  const state = { ...stored.state!, ...changes }
  await store.transaction(TEST_SCOPE, (sql) => saveOrderState(sql, stored.record.id, state, undefined))
  return orderAnswer(stored.record, state)
}

/** Returns the steps that tests of her channels share, in the world of the running test. */
export function aliceSteps(world: () => FacadeStreamWorld) {
  const store = (): Store => world().facade.opened.store
  return {
    store,
    /** Returns the answer of `/info`, by default about her. */
    info: async (type: string, of: object = { user: ALICE.toLowerCase() }) =>
      JSON.parse(String(await answerInfo({ type, ...of }, world().facade.reads))),
    /** Changes a stored order, and appends its event. */
    async move(id: number, changes: Partial<OrderState>, isReverted = false): Promise<Order> {
      const order = await moveOrder(store(), id, changes)
      await world().append('orders', order, { isReverted })
      return order
    },
  }
}

/** Stores an execution of an order, in a block of its own. */
export async function fillOrder(store: Store, orderId: number, blockNumber: number): Promise<FillHistoryEntry> {
  const blockHash = `0x${blockNumber.toString(16).padStart(64, '0')}` as Hex
  const place = { blockHash, blockNumber, logIndex: 3, txHash: HASH, timestampMs: blockNumber * 1_000 }
  const amounts = { price: '60000', size: '0.25', collateral: '1500', leverage: '10', pnl: '0' }
  const told = { timestamp: place.timestampMs, txHash: HASH, positionId: '900' }
  const fill = sampleFill(5_000 + blockNumber, { ...amounts, ...told })
  const { leverage: _leverage, pnl: _pnl, ...traded } = amounts
  const executed = { kind: 'executed', pendingIndex: null, fill: { ...traded, feeCollateral: '0.9', ...told } } as const
  const event: OrderEvent = { ...place, attemptId: null, ...executed }
  await store.transaction(TEST_SCOPE, async (sql) => {
    await insertFill(sql, { chain: 'base', trader: ALICE, pairIndex: 0, place, fill })
    const key = { chain: 'base', trader: ALICE, orderId: String(orderId) as OrderId, handle: null } as const
    await insertOrderEvent(sql, { ...key, event })
  })
  return fill
}

/** Stores a position as it is now. */
export async function keepPosition(store: Store, { record, state }: LivePosition, isNew: boolean): Promise<void> {
  if (isNew) await placeOrder(store, Number(record.originOrderId))
  await store.transaction(TEST_SCOPE, async (sql) => {
    if (isNew) await insertPosition(sql, record)
    await savePositionState(sql, record.id, state)
  })
}
