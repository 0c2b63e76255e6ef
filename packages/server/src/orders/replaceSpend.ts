import { ApiError, formatDecimal, scaleDecimalTruncated, type AgentScope } from '@bezel/protocol'
import type { OrderRecord } from '../trading/orders/orderModel.ts'
import type { ScopedAction } from '../trading/plan/plan.ts'

const SIZE_DECIMALS = 8
const PRICE_DECIMALS = 10
const USD_DECIMALS = SIZE_DECIMALS + PRICE_DECIMALS

/**
 * What an order counts against its agent's daily cap is fixed when it is made, and given back as a whole when it ends unfilled. So an agent
 * that has a cap can't make an order larger than what was counted: it cancels it and makes a new one, which is counted anew. `spendUsd` of the
 * action is what would come on top.
 */
export function requireRoomForReplace(scope: AgentScope, record: OrderRecord, { spendUsd }: ScopedAction): void {
  if (scope.dailySpendCapUsd === null || spendUsd <= uncountedUsd(record)) return
  throw new ApiError(
    'SCOPE_SPEND_CAP_EXCEEDED',
    "The agent has a daily cap, so a change can't raise an order's notional above what it was counted with: cancel it and make a new one.",
    {
      dailySpendCapUsd: scope.dailySpendCapUsd,
      notionalUsd: formatDecimal(record.spendUsd + spendUsd, USD_DECIMALS),
      countedUsd: formatDecimal(record.spendUsd, USD_DECIMALS),
    },
  )
}

/** An order that was made elsewhere counts nowhere, and may stay as large as it was found. */
function uncountedUsd({ agent, request }: OrderRecord): bigint {
  if (agent !== null || request.price === null) return 0n
  return scaleDecimalTruncated(request.size, SIZE_DECIMALS) * scaleDecimalTruncated(request.price, PRICE_DECIMALS)
}
