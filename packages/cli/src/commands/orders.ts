import { readWhole } from '../arguments/readers.ts'
import type { Order } from '@bezel/sdk'
import { paintSide, paintStatus, dateAndTime, shortDecimal } from '../output/text.ts'
import type { Command } from './command.ts'
import { showList, type Column } from '../output/formatTable.ts'

const MAX_PAGE = 500

const DEFAULT_PAGE = '20'

/** The table of `bezel orders`. */
const ORDER_COLUMNS: readonly Column<Order>[] = [
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

/** `bezel orders`. */
export const ordersCommand: Command = {
  name: 'orders',
  summary: 'lists the open orders, or the latest of all orders',
  operands: [],
  options: {
    history: { type: 'boolean', what: 'include orders that have ended, newest first' },
    limit: { type: 'string', value: 'N', what: `number of orders of the history (default: ${DEFAULT_PAGE})` },
  },
  examples: ['orders', 'orders --history --limit 5 --json'],
  async run({ args, output, environment }) {
    const limit = readWhole(args.text('limit') ?? DEFAULT_PAGE, '--limit', { min: 1, max: MAX_PAGE })
    const { account, trader } = await environment.readingClient()
    const rows = args.flag('history') ? (await account.orderHistory({ limit })).data : await account.openOrders()
    const owner = environment.labelOf(await trader())
    showList(output, { rows, columns: ORDER_COLUMNS, none: 'There are no orders.', account: owner })
  },
}

function priceOf(price: string | null): string {
  return price === null ? '-' : shortDecimal(price, 6)
}
