import type { Address, OrderId } from '@bezel/protocol'
import type { FacadeOrderStatus } from '../../facadeOrder.ts'
import type { FacadeReads } from '../../facadeReads.ts'
import { findTriggerOrder, openTriggers } from '../../positionTriggers.ts'

/** Take profits and stop losses are orders here, and fields of a position natively: what became of them is found by comparing. */
export interface TriggerNews {
  /** Those that are new, changed or over since the last look. The first one tells nothing. */
  look(): Promise<readonly FacadeOrderStatus[]>
}

export function createTriggerNews(reads: FacadeReads, user: Address): TriggerNews {
  let known: ReadonlyMap<number, string> | undefined

  return {
    async look() {
      const open = await openTriggers(reads, reads.positionsOf(user))
      const now = new Map(open.map(({ order }) => [order.oid, JSON.stringify(order)]))
      const news = known === undefined ? [] : open.filter(({ order }) => known!.get(order.oid) !== now.get(order.oid))
      for (const oid of known?.keys() ?? []) if (!now.has(oid)) news.push(...(await ended(oid)))
      known = now
      return news
    },
  }

  /** One that was executed is told by the order that closed its position. */
  async function ended(oid: number): Promise<FacadeOrderStatus[]> {
    const order = await findTriggerOrder(reads, user, String(oid) as OrderId)
    return order?.status === 'canceled' ? [order] : []
  }
}
