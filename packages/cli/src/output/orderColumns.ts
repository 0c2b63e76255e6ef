import type { Order } from '@bezel/sdk'
import type { Column } from './formatTable.ts'
import { dateAndTime } from './shortTime.ts'
import { shortDecimal } from './shortDecimal.ts'
import type { Style } from './style.ts'

/** Green buys, red sells. */
export function paintSide({ side }: { readonly side: 'long' | 'short' }, style: Style): (text: string) => string {
  return side === 'long' ? style.good : style.bad
}

/** Good ends green, bad ones red, what is under way yellow. */
export function paintStatus({ status }: Pick<Order, 'status'>, style: Style): (text: string) => string {
  if (status === 'filled') return style.good
  return ['rejected', 'timed_out'].includes(status) ? style.bad : style.warn
}

/** The table of `bezel orders`. */
export const ORDER_COLUMNS: readonly Column<Order>[] = [
  { title: 'ID', cell: ({ id }) => id },
  { title: 'MARKET', cell: ({ market }) => market },
  { title: 'SIDE', cell: ({ side }) => side, paint: paintSide },
  { title: 'TYPE', cell: ({ type, reduceOnly }) => (reduceOnly ? `${type} reduce` : type) },
  { title: 'SIZE', cell: ({ size }) => shortDecimal(size, 6), isNumber: true },
  { title: 'PRICE', cell: ({ price, fill }) => priceOf(fill?.price ?? price), isNumber: true },
  { title: 'LEV', cell: ({ leverage }) => `${shortDecimal(leverage, 2)}x`, isNumber: true, drop: 3 },
  { title: 'TP', cell: ({ tp }) => priceOf(tp), isNumber: true, drop: 4 },
  { title: 'SL', cell: ({ sl }) => priceOf(sl), isNumber: true, drop: 4 },
  {
    title: 'STATUS',
    cell: ({ status, reason }) => (reason === null ? status : `${status} ${reason}`),
    paint: paintStatus,
  },
  { title: 'UPDATED', cell: ({ updatedAt }) => dateAndTime(updatedAt), drop: 1 },
  { title: 'CLIENT ID', cell: ({ clientId }) => clientId ?? '', drop: 5 },
]

function priceOf(price: string | null): string {
  return price === null ? '-' : shortDecimal(price, 6)
}
