import type { Order } from '@bezel/sdk'
import { formatFields } from './formatFields.ts'
import { shortDecimal } from './shortDecimal.ts'
import type { Style } from './style.ts'

/** One order, as it is after a command. */
export function orderFields(order: Order, style: Style): string[] {
  const { fill } = order
  const kind = order.reduceOnly ? `${order.type}, reduce only` : order.type
  return formatFields(
    [
      ['Order', `${order.id} ${order.status}${order.reason === null ? '' : ` (${order.reason})`}`],
      ['Market', `${order.market} ${order.side} ${order.size} at ${order.leverage}x, ${kind}`],
      ['Price', fill === null ? order.price : null],
      ['Filled', fill === null ? null : `${shortDecimal(fill.size, 8)} at ${shortDecimal(fill.price, 8)}`],
      ['Fee', fill === null ? null : `${shortDecimal(fill.feeCollateral, 6)} ${order.collateral}`],
      ['Take profit', order.tp],
      ['Stop loss', order.sl],
      ['Position', fill?.positionId],
      ['Transaction', fill?.txHash ?? order.txHash],
    ],
    style,
  )
}
