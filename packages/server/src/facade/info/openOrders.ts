import type { FacadeOrder } from '../facadeOrder.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { frontendOpenOrders } from './frontendOpenOrders.ts'
import type { InfoRequest } from './infoRequest.ts'

/** The same orders in fewer words. */
export async function openOrders(request: InfoRequest, reads: FacadeReads): Promise<unknown> {
  return (await frontendOpenOrders(request, reads)).map(shortOrder)
}

/** What `orderUpdates` tells of an order too. */
export function shortOrder({ coin, side, limitPx, sz, oid, timestamp, origSz, cloid, reduceOnly }: FacadeOrder) {
  return {
    coin,
    side,
    limitPx,
    sz,
    oid,
    timestamp,
    origSz,
    ...(cloid === null ? {} : { cloid }),
    ...(reduceOnly ? { reduceOnly } : {}),
  }
}
