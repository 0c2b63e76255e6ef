import { OPEN_ORDER_STATUSES } from '@bezel/protocol'
import type { Order } from '@bezel/sdk'
import { readChoice, readWhole, readDecimal, readId, readPrice } from '../arguments/readers.ts'
import { UsageError } from '../errors/cliError.ts'
import { paintSide, paintStatus, dateAndTime, shortLeverage, shortPrice, shortSize } from '../output/text.ts'
import { showList, type Column, formatFields } from '../output/formatTable.ts'
import type { Command } from './command.ts'
import { MARKET_OPTION, marketFilterOf, endAll, refuseOperand } from './endAll.ts'
import { confirm, WAIT_OPTIONS } from './confirm.ts'
import { EXPECT_OPTION, followOrder, verifyOptionsOf } from './followOrder.ts'

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

/** Readers of the terms that `bezel change` takes. */
const READERS = { price: readDecimal, size: readDecimal, tp: readPrice, sl: readPrice, slippage: readDecimal } as const

const TERMS = ['price', 'size', 'tp', 'sl', 'slippage'] as const

/** `bezel change`. */
export const changeCommand: Command = {
  name: 'change',
  aliases: ['amend'],
  summary: 'changes a resting order, which keeps its id',
  operands: [{ name: 'ORDER', what: 'id of the order, from bezel orders; bezel set is for positions' }],
  options: {
    price: { type: 'string', value: 'PRICE', what: 'new price; the size stays, so the collateral is taken anew' },
    size: { type: 'string', value: 'SIZE', what: 'new size' },
    tp: { type: 'string', value: 'PRICE', what: 'take profit price; 0 removes it' },
    sl: { type: 'string', value: 'PRICE', what: 'stop loss price; 0 removes it' },
    slippage: { type: 'string', value: 'PERCENT', what: 'how far the price may move against you' },
    ...EXPECT_OPTION,
    ...WAIT_OPTIONS,
  },
  examples: ['change 1042 --price 59500', 'change 1042 --size 0.05 --sl 56000'],
  async run(context) {
    const { args, output, environment, interruption } = context
    const id = readId(args.operands[0]!, 'ORDER')
    const given = TERMS.flatMap((name) => {
      const text = args.text(name)
      return text === undefined ? [] : [[name, READERS[name](text, `--${name}`)] as const]
    })
    if (given.length === 0) throw new UsageError('What is to change? For instance --price 59500.')
    const client = await environment.tradingClient()
    const before = await client.orders.get(id)
    await confirm(context, `Change order ${id}`, () =>
      formatFields(
        [
          ['Order', `${id} ${before.market} ${before.side} ${shortSize(before.size)} ${before.type}`],
          ...given.map(([name, value]) => [name, `${termOf(before[name])} becomes ${termOf(value)}`] as const),
        ],
        output,
      ),
    )
    interruption.leaves(() => 'Stopped. The change may have been sent already: look with `bezel orders`')
    output.progress(`Changing order ${id}`)
    await followOrder(context, await client.orders.update(id, Object.fromEntries(given), verifyOptionsOf(args)))
  },
}

/** Returns a term of an order for people. A stop that is not set is null or 0. */
function termOf(value: string | null): string {
  return value === null || value === '0' ? 'none' : shortPrice(value)
}

/** `bezel cancel`. */
export const cancelCommand: Command = {
  name: 'cancel',
  summary: 'cancels an open order, or reclaims the collateral of a timed-out one; with --all every order',
  operands: [{ name: 'ORDER', what: 'id of the order, from bezel orders; none with --all', isOptional: true }],
  options: {
    all: { type: 'boolean', what: 'cancel all orders' },
    ...MARKET_OPTION,
    ...WAIT_OPTIONS,
  },
  examples: ['cancel 1042', 'cancel --all --market BTC/USD'],
  async run(context) {
    const { args } = context
    if (args.flag('all')) {
      refuseOperand(args)
      const what = { doing: 'Cancelling all orders', ends: ['orders'] } as const
      return endAll(context, what, (client, of) => client.orders.cancelAll(of))
    }
    const [operand] = args.operands
    if (operand === undefined) throw new UsageError('Which order? Give its id, or --all.')
    if (args.text('market') !== undefined)
      throw new UsageError('--market goes with --all: an order has its own market.')
    const id = readId(operand, 'ORDER')
    const client = await context.environment.tradingClient()
    await confirm(context, `Cancel order ${id}`)
    context.output.progress(`Cancelling order ${id}`)
    await followOrder(context, await client.orders.cancel(id))
  },
}
