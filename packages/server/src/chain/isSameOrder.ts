import { scaleDecimal } from '@bezel/protocol'
import type { Creation } from './creation.ts'
import type { OrderRequest } from '../trading/orders/orderModel.ts'
/** Whether a log created what was asked for. */
export function isSameOrder(request: OrderRequest, creation: Omit<Creation, 'trader'>): boolean {
  if (request.kind !== creation.kind || request.pairIndex !== creation.pairIndex) return false
  if (request.kind !== 'open') return request.legs.some(({ tradeIndex }) => tradeIndex === creation.tradeIndex)
  const leverage = scaleDecimal(request.leverage, 3)
  return (
    request.type === creation.type &&
    request.side === creation.side &&
    request.collateralIndex === creation.collateralIndex &&
    leverage === BigInt(creation.leverage ?? 0)
  )
}
