import type { CreateOrderRequest } from '@bezel/sdk'
import type { CommandArguments } from '../arguments/readOptions.ts'
import { readDecimal, readMarket } from '../arguments/readers.ts'
import { UsageError } from '../errors/cliError.ts'
import type { Command } from './command.ts'
import { EXPECT_OPTION, followOrder, verifyOptionsOf, WAIT_OPTIONS } from './followOrder.ts'

/** Longest client id that the service accepts. */
const MAX_CLIENT_ID_CHARS = 64

/** `bezel order`. */
export const orderCommand: Command = {
  name: 'order',
  summary: 'places an order at the market or at a price, and waits until it is filled or rests',
  operands: [
    { name: 'MARKET', what: 'market, for instance BTC/USD' },
    { name: 'SIDE', what: 'long or short' },
    { name: 'SIZE', what: 'size in base units of the market, for instance 0.02' },
  ],
  options: {
    leverage: { type: 'string', value: 'X', what: 'leverage, for instance 10 (required)' },
    limit: { type: 'string', value: 'PRICE', what: 'limit order: rest until the price is this or better' },
    stop: { type: 'string', value: 'PRICE', what: 'stop order: rest until the price reaches this' },
    tp: { type: 'string', value: 'PRICE', what: 'take profit price' },
    sl: { type: 'string', value: 'PRICE', what: 'stop loss price' },
    slippage: { type: 'string', value: 'PERCENT', what: 'how far the price may move against you (default: 1)' },
    collateral: { type: 'string', value: 'SYMBOL', what: 'collateral token, for instance USDC' },
    'reduce-only': { type: 'boolean', what: 'only make a position smaller' },
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
    const request = requestOf(context.args)
    const client = await context.environment.tradingClient()
    context.interruption.leaves(
      () => 'Stopped. The order may have been sent already: look with bezel orders --history.',
    )
    context.output.progress(`Ordering ${request.market} ${request.side} ${request.size}`)
    const tracked = await client.orders.create(request, verifyOptionsOf(context.args))
    await followOrder(context, tracked, request.type === 'market' ? ['filled'] : ['open', 'filled'])
  },
}

function requestOf(args: CommandArguments): CreateOrderRequest {
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
    price: limit ?? stop,
    tp: number('tp'),
    sl: number('sl'),
    slippage: number('slippage'),
    collateral: args.text('collateral'),
    clientId: clientIdOf(args),
    reduceOnly: args.flag('reduce-only') ? true : undefined,
  }
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  const type = limit !== undefined ? 'limit' : stop !== undefined ? 'stop' : 'market'
  return { market: readMarket(market), side, type, size: readDecimal(size, 'SIZE'), leverage, ...given }
}

function clientIdOf(args: CommandArguments): string | undefined {
  const id = args.text('client-id')
  if (id === undefined || id.length <= MAX_CLIENT_ID_CHARS) return id
  throw new UsageError(`--client-id has ${id.length} characters, and ${MAX_CLIENT_ID_CHARS} are allowed.`)
}
