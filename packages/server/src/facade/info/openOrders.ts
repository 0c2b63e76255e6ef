import type { FacadeOrder } from '../facadeOrder.ts'
import { listWaitingOrders } from './frontendOpenOrders.ts'
import { userRequest, type UserRequest } from './infoRequest.ts'
import { defineInfo, keptList } from './infoType.ts'

/** An order with fewer fields, which the stream's `orderUpdates` sends too. */
type ShortOrder = Pick<FacadeOrder, 'coin' | 'side' | 'limitPx' | 'sz' | 'oid' | 'timestamp' | 'origSz'> & {
  readonly cloid?: string
  readonly reduceOnly?: true
}

/** The orders of `frontendOpenOrders` with fewer fields. */
export const openOrders = defineInfo<UserRequest, readonly ShortOrder[]>({
  parse: userRequest,
  answer: keptList('openOrders', async ({ user }, reads, meter) =>
    (await listWaitingOrders(reads, user, meter)).map(shortOrder),
  ),
  inOtherDex: () => [],
})

export function shortOrder(order: FacadeOrder): ShortOrder {
  const { coin, side, limitPx, sz, oid, timestamp, origSz, cloid, reduceOnly } = order
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
