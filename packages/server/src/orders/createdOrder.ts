import { isSameOrder } from '../chain/isSameOrder.ts'
import { TradeType } from '@bezel/protocol'
import { creationOfRequest, creationOfRestingOrder, type Creation } from '../chain/creation.ts'
import { EventDecodeError } from '../chain/events/defineEvent.ts'
import { decodeLog } from '../chain/events/index.ts'
import type { RawLog } from '../chain/events/rawLog.ts'
import type { OrderRecord } from '../trading/orders/orderModel.ts'

/** Whether the Diamond's logs of one transaction tell that it made this order of this trader. */
export function hasCreated(logs: readonly RawLog[], { trader, request }: OrderRecord): boolean {
  return logs
    .map(creationIn)
    .some((creation) => creation !== undefined && creation.trader === trader && isSameOrder(request, creation))
}

function creationIn(log: RawLog): Creation | undefined {
  const event = decoded(log)
  if (event?.name === 'PendingOrderStored') return creationOfRequest(event)
  const isResting = event?.name === 'TradeStored' && event.args.trade.tradeType !== TradeType.TRADE
  return isResting ? creationOfRestingOrder(event) : undefined
}

/** A log that can't be read tells nothing; what the chain says is the follower's to judge. */
function decoded(log: RawLog): ReturnType<typeof decodeLog> {
  try {
    return decodeLog(log)
  } catch (error) {
    if (error instanceof EventDecodeError) return undefined
    throw error
  }
}
