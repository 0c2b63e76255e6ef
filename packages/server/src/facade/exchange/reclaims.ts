import type { OrderId } from '@bezel/protocol'
import type { FastifyBaseLogger } from 'fastify'
import { putLast } from '../../ground/putLast.ts'
import { cancelOrder } from '../../orders/cancelOrder.ts'
import { listTimedOutRelayed } from '../../store/facadeReclaimStore.ts'
import { findOrder } from '../../store/orderStore.ts'
import type { TradingParts } from './exchangeParts.ts'
import { facadeAgent } from './facadeAgent.ts'
import { relayed } from './relayed.ts'

/** Takes back what the oracle never answered. */
export interface Reclaims {
  run(log: Pick<FastifyBaseLogger, 'warn'>): Promise<void>
}

/** Tried in one round; the rest follows in the next. */
const MAX_PER_ROUND = 20
/** Read at a time. */
const PAGE = 200
/** After a failure an order is left alone for so long. */
const RETRY_MS = 30_000
const MAX_REMEMBERED = 10_000

/**
 * A market order that was relayed and timed out holds its trader's collateral until somebody reclaims it. Clients of the facade have no word for
 * that, so it is done for them.
 */
export function createReclaims(parts: TradingParts): Reclaims {
  const { store, orders, relayer, now } = parts
  const leftAloneUntilMs = new Map<OrderId, number>()
  /** Everything up to it was looked at: those that can't be reclaimed must not keep others from it. */
  let place: OrderId | null = null

  async function reclaim(id: OrderId): Promise<void> {
    const stored = await findOrder(store.read, id)
    const agent = stored && facadeAgent(parts, stored.record)
    if (agent === undefined) return
    await relayed({ parts, agent, expiresAfter: null }, (write) => cancelOrder(orders, write, id))
  }

  return {
    async run(log) {
      const of = { sender: relayer.address, nowMs: now(), after: place, limit: PAGE }
      const found = await listTimedOutRelayed(store.read, orders.chain.slug, of)
      let tried = 0
      for (const id of found) {
        if (tried === MAX_PER_ROUND) return
        place = id
        if ((leftAloneUntilMs.get(id) ?? 0) > now()) continue
        tried += 1
        putLast(leftAloneUntilMs, id, now() + RETRY_MS, MAX_REMEMBERED)
        try {
          await reclaim(id)
        } catch (error) {
          log.warn({ chain: orders.chain.slug, order: id, err: error }, 'a timed-out order could not be reclaimed')
        }
      }
      if (found.length < PAGE) place = null
    },
  }
}
