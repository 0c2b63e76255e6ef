import type { CreateOrderRequest } from '@bezel/sdk'
import type { CommandArguments, OptionTable } from '../arguments/readOptions.ts'
import { readDecimal, readMarket } from '../arguments/readers.ts'
import { UsageError } from '../errors/cliError.ts'
import { orderPreviewLines } from '../output/previewLines.ts'
import type { Command } from './command.ts'
import { confirm, WAIT_OPTIONS } from './confirm.ts'
import { EXPECT_OPTION, followOrder, verifyOptionsOf } from './followOrder.ts'

/** Longest client id that the service accepts. */
const MAX_CLIENT_ID_CHARS = 64

/** The operands of commands that are about a new order. */
export const ORDER_OPERANDS: Command['operands'] = [
  { name: 'MARKET', what: 'market, for instance BTC/USD' },
  { name: 'SIDE', what: 'long or short' },
  { name: 'SIZE', what: 'size in base units of the market, for instance 0.02' },
]

/** The terms of a new order. */
export const ORDER_OPTIONS = {
  leverage: { type: 'string', value: 'X', what: 'leverage, for instance 10 (required)' },
  limit: { type: 'string', value: 'PRICE', what: 'limit order: rest until the market is at this price or better' },
  stop: { type: 'string', value: 'PRICE', what: 'stop order: rest until the price reaches this' },
  tp: { type: 'string', value: 'PRICE', what: 'take profit price' },
  sl: { type: 'string', value: 'PRICE', what: 'stop loss price' },
  slippage: { type: 'string', value: 'PERCENT', what: 'how far the price may move against you (default: 1)' },
  collateral: { type: 'string', value: 'SYMBOL', what: 'collateral token, for instance USDC' },
  'reduce-only': { type: 'boolean', what: 'only make a position smaller' },
} as const satisfies OptionTable

/** `bezel order`. */
export const orderCommand: Command = {
  name: 'order',
  summary: 'places an order at the market or at a price, and waits until it is filled or rests',
  operands: ORDER_OPERANDS,
  options: {
    ...ORDER_OPTIONS,
    'client-id': {
      type: 'string',
      value: 'ID',
      what: 'your own id of the order: it is never placed twice under the same id',
    },
    ...EXPECT_OPTION,
    ...WAIT_OPTIONS,
  },
  examples: [
    'order BTC/USD long 0.02 --leverage 10',
    'order ETH/USD short 1.5 --leverage 5 --limit 4200 --tp 3500 --sl 4500',
  ],
  async run(context) {
    const request = orderRequestOf(context.args)
    const client = await context.environment.tradingClient()
    await confirm(context, `Order ${request.market} ${request.side} ${request.size}`, async () =>
      orderPreviewLines(await client.preview.order(request), context.output, triggerOf(request)),
    )
    context.interruption.leaves(
      () => 'Stopped. The order may have been sent already: look with `bezel orders --history`',
    )
    context.output.progress(`Ordering ${request.market} ${request.side} ${request.size}`)
    const tracked = await client.orders.create(request, verifyOptionsOf(context.args))
    await followOrder(context, tracked)
  },
}

/** Returns the order that a command line asks for. */
export function orderRequestOf(args: CommandArguments): CreateOrderRequest {
  const [market = '', side = '', size = ''] = args.operands
  if (side !== 'long' && side !== 'short')
    throw new UsageError(`SIDE is ${JSON.stringify(side.slice(0, 40))}, but it must be long or short.`)
  const number = (name: string): string | undefined => {
    const text = args.text(name)
    return text === undefined ? undefined : readDecimal(text, `--${name}`)
  }
  const leverage = number('leverage')
  if (leverage === undefined) throw new UsageError('Which leverage? For instance --leverage 10.')
  const limit = number('limit')
  const stop = number('stop')
  if (limit !== undefined && stop !== undefined)
    throw new UsageError('--limit and --stop are two kinds of order. Give one of them.')
  const rest = {
    tp: number('tp'),
    sl: number('sl'),
    slippage: number('slippage'),
    collateral: args.text('collateral'),
    clientId: clientIdOf(args),
    reduceOnly: args.flag('reduce-only') ? true : undefined,
  }
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  const terms = { market: readMarket(market), size: readDecimal(size, 'SIZE'), leverage, ...given }
  const price = limit ?? stop
  if (price === undefined) return { ...terms, side, type: 'market' }
  return { ...terms, side, type: limit === undefined ? 'stop' : 'limit', price }
}

/** Returns the price at which an order executes; `undefined` for one that does so at once. */
export function triggerOf({ type, price }: CreateOrderRequest): string | undefined {
  return type === 'market' ? undefined : price
}

function clientIdOf(args: CommandArguments): string | undefined {
  const id = args.text('client-id')
  if (id === undefined || id.length <= MAX_CLIENT_ID_CHARS) return id
  throw new UsageError(`--client-id has ${id.length} characters, and ${MAX_CLIENT_ID_CHARS} are allowed.`)
}
