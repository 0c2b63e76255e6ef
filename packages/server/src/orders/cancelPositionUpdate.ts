import type { OrderId, PreparedPosition } from '@bezel/protocol'
import { findPosition } from '../store/positionStore.ts'
import type { Sql } from '../store/sql.ts'
import type { FoldClock } from '../trading/orders/orderModel.ts'
import type { Plan } from '../trading/plan/plan.ts'
import { notReclaimable, planCancelUpdate } from '../trading/plan/planCancelUpdate.ts'
import type { LivePosition } from '../trading/positions/positionModel.ts'
import { requireScope } from '../trading/scope.ts'
import type { ChainOrders } from './chainOrders.ts'
import { ownPosition } from './closePosition.ts'
import { keepPositionAttempts, prepareAttempt, transactionOf } from './prepareAttempt.ts'
import { runWrite, type SignedWrite } from './signedWrite.ts'

/** Prepares the reclaim of a change of a position that the oracle has not answered in time. */
export async function cancelPositionUpdate(
  orders: ChainOrders,
  write: SignedWrite,
  id: OrderId | undefined,
): Promise<PreparedPosition> {
  return runWrite(orders, write, {
    plan: async () => {
      const found = (await findClosed(orders, write, id)) ?? ownPosition(orders, write, id)
      const plan = planCancelUpdate(found, orders.trading().chain, orders.clock())
      requireScope(write.agent.scope, plan.action)
      return { position: orders.positionAnswer(found), plan }
    },
    ask: ({ plan }) => prepareAttempt(orders, write, plan),
    keep: async ({ sql, agent, clock }, { position, plan }, attempt) => {
      requireScope(agent.scope, plan.action)
      await requireUnanswered(sql, plan, clock)
      await keepPositionAttempts(sql, plan, attempt, 'reclaim')
      await write.relay?.take(sql, attempt, { kind: 'cancel', positionIds: [position.id as OrderId] })
      return { position, transaction: transactionOf(orders.chain, attempt) }
    },
  })
}

/** Throws when a late answer, or another reclaim, ended the change while the node was asked. */
async function requireUnanswered(sql: Sql, { touches = [] }: Plan, { headBlock }: FoldClock): Promise<void> {
  for (const { record, state: planned } of touches) {
    const now = (await findPosition(sql, record.id))?.state?.pendingUpdate
    if (now?.pendingIndex !== planned.pendingUpdate?.pendingIndex) throw notReclaimable(now ?? null, headBlock)
  }
}

/** Finds a position that was closed while its change waited: the collateral of the change is still locked. */
async function findClosed(
  { store, chain, terms }: Pick<ChainOrders, 'store' | 'chain' | 'terms'>,
  { agent }: SignedWrite,
  id: OrderId | undefined,
): Promise<LivePosition | undefined> {
  const stored = id === undefined ? undefined : await findPosition(store.read, id)
  if (stored?.state === undefined || stored.state.isOpen || stored.state.pendingUpdate === null) return undefined
  const { record, state } = stored
  if (record.chain !== chain.slug || record.trader !== agent.trader) return undefined
  return { record, state, terms: terms.of(record.trader, state.trade.pairIndex) }
}
