import { OPEN_ORDER_STATUSES } from '@bezel/protocol'
import type { Order } from '@bezel/sdk'
import { readChoice, readWhole } from '../arguments/readers.ts'
import { UsageError } from '../errors/cliError.ts'
import { paintSide, paintStatus, dateAndTime, shortLeverage, shortPrice, shortSize } from '../output/text.ts'
import type { Command } from './command.ts'
import { MARKET_OPTION, marketFilterOf } from './endAll.ts'
import { showList, type Column } from '../output/formatTable.ts'

const MAX_PAGE = 500

const DEFAULT_PAGE = '20'

/** The table of `bezel orders`. */
const ORDER_COLUMNS: readonly Column<Order>[] = [
  { title: 'ID', cell: ({ id }) => id },
  { title: 'MARKET', cell: ({ market }) => market },
  { title: 'SIDE', cell: ({ side }) => side, paint: paintSide },
  { title: 'TYPE', cell: ({ type, reduceOnly }) => (reduceOnly ? `${type} reduce` : type), drop: 1 },
  { title: 'SIZE', cell: ({ size }) => shortSize(size), isNumber: true, drop: 1 },
  { title: 'PRICE', cell: ({ price, fill }) => priceOf(fill?.price ?? price), isNumber: true },
  { title: 'LEV', cell: ({ leverage }) => shortLeverage(leverage), isNumber: true, drop: 3 },
  { title: 'TP', cell: ({ tp }) => priceOf(tp), isNumber: true, drop: 4 },
  { title: 'SL', cell: ({ sl }) => priceOf(sl), isNumber: true, drop: 4 },
  {
    title: 'STATUS',
    cell: ({ status, reason }) => (reason === null ? status : `${status} ${reason}`),
    paint: paintStatus,
  },
  { title: 'UPDATED', cell: ({ updatedAt }) => dateAndTime(updatedAt), drop: 2 },
  { title: 'CLIENT ID', cell: ({ clientId }) => clientId ?? '', drop: 5 },
]

/** `bezel orders`. */
export const ordersCommand: Command = {
  name: 'orders',
  summary: 'lists the open orders, or the latest of all orders',
  operands: [],
  options: {
    ...MARKET_OPTION,
    status: {
      type: 'string',
      value: 'STATUS',
      what: `only open orders of this status: ${OPEN_ORDER_STATUSES.join(', ')}`,
    },
    history: { type: 'boolean', what: 'all orders, also those that have ended, newest first' },
    limit: { type: 'string', value: 'N', what: `number of orders of the history (default: ${DEFAULT_PAGE})` },
  },
  examples: ['orders', 'orders --market BTC/USD --status open', 'orders --history --limit 5 --json'],
  async run({ args, output, environment }) {
    const limit = readWhole(args.text('limit') ?? DEFAULT_PAGE, '--limit', { min: 1, max: MAX_PAGE })
    const status = args.text('status')
    const isHistory = args.flag('history')
    if (isHistory && (args.text('market') ?? status) !== undefined)
      throw new UsageError('--market and --status select open orders. Leave them away, or leave --history away.')
    const filter = {
      ...marketFilterOf(args),
      ...(status === undefined ? {} : { status: readChoice(status, '--status', OPEN_ORDER_STATUSES) }),
    }
    const { account, trader } = await environment.readingClient()
    const rows = isHistory ? (await account.orderHistory({ limit })).data : await account.openOrders(filter)
    const owner = environment.labelOf(await trader())
    showList(output, { rows, columns: ORDER_COLUMNS, none: 'There are no orders.', account: owner })
  },
}

function priceOf(price: string | null): string {
  return price === null ? '-' : shortPrice(price)
}
