import type { Price, PricesEvent, StreamStatus, Candle } from '@bezel/sdk'
import { CANDLE_INTERVALS, type CandleInterval } from '@bezel/protocol'
import { readMarket, requireMarkets, readChoice, readWhole } from '../../arguments/readers.ts'
import { formatTable, type Column } from '../../output/formatTable.ts'
import { type Output, showStreamStatus } from '../../output/createOutput.ts'
import { shortPrice, shortTime, dateAndTime } from '../../output/text.ts'
import type { Command } from '../command.ts'
import { MARKETS_OPERAND, MARKET_OPERAND } from './markets.ts'

const PRICE_COLUMNS: readonly Column<Price>[] = [
  { title: 'MARKET', cell: ({ market }) => market },
  { title: 'MARK', cell: ({ mark }) => shortPrice(mark), isNumber: true },
  { title: 'INDEX', cell: ({ index }) => shortPrice(index), isNumber: true },
  { title: 'UPDATED', cell: ({ updatedAt }) => shortTime(updatedAt), drop: 1 },
]

/** `bezel price`. */
export const priceCommand: Command = {
  name: 'price',
  summary: 'shows prices as they change, until Ctrl-C',
  operands: MARKETS_OPERAND,
  options: { once: { type: 'boolean', what: 'show the current prices once and end' } },
  examples: ['price BTC/USD ETH/USD', 'price --once', 'price BTC/USD --json'],
  async run({ args, output, environment, interruption }) {
    const wanted = args.operands.map(readMarket)
    const client = environment.publicClient()
    const known = requireMarkets(await client.markets.list(), wanted).map(({ symbol }) => symbol)
    if (args.flag('once')) return showOnce(output, selected(await client.markets.prices(), known))
    interruption.endsWell()
    const stream = client.stream({ onStatus: (status: StreamStatus) => showStreamStatus(output, status) })
    interruption.signal.addEventListener('abort', () => stream.close())
    const latest = new Map<string, Price>()
    for await (const event of stream.prices({ markets: known })) show(output, event, latest, known)
  },
}

function showOnce(output: Output, prices: readonly Price[]): void {
  output.answer(prices, () => formatTable(prices, PRICE_COLUMNS, output))
}

/** Returns the prices of the given markets, in the order of `symbols`. */
function selected(prices: readonly Price[], symbols: readonly string[]): Price[] {
  return symbols.flatMap((symbol) => prices.find(({ market }) => market === symbol) ?? [])
}

function show(output: Output, { data }: PricesEvent, latest: Map<string, Price>, symbols: readonly string[]): void {
  for (const changed of data) latest.set(changed.market, changed)
  if (output.isTerminal) {
    const rows = selected([...latest.values()], symbols)
    return output.redraw(formatTable(rows, PRICE_COLUMNS, output))
  }
  for (const changed of data) {
    output.event(changed, () => [`${shortTime(changed.updatedAt)}  ${changed.market}  ${shortPrice(changed.mark)}`])
  }
}

const INTERVALS = Object.keys(CANDLE_INTERVALS) as CandleInterval[]

const DEFAULT_INTERVAL = '1h'

const DEFAULT_COUNT = '20'

/** Most candles that one request may span. */
const MAX_COUNT = 5_000

const CANDLE_COLUMNS: readonly Column<Candle>[] = [
  { title: 'TIME', cell: ({ time }) => dateAndTime(time) },
  { title: 'OPEN', cell: ({ open }) => shortPrice(open), isNumber: true },
  { title: 'HIGH', cell: ({ high }) => shortPrice(high), isNumber: true },
  { title: 'LOW', cell: ({ low }) => shortPrice(low), isNumber: true },
  { title: 'CLOSE', cell: ({ close }) => shortPrice(close), isNumber: true },
]

/** `bezel candles`. */
export const candlesCommand: Command = {
  name: 'candles',
  summary: "lists the latest candles of a market's mark price, oldest first",
  operands: MARKET_OPERAND,
  options: {
    interval: {
      type: 'string',
      value: 'INTERVAL',
      what: `width of a candle: ${INTERVALS.join(', ')} (default: ${DEFAULT_INTERVAL})`,
    },
    limit: { type: 'string', value: 'N', what: `number of candles, 1 to ${MAX_COUNT} (default: ${DEFAULT_COUNT})` },
  },
  examples: ['candles BTC/USD', 'candles eth --interval 5m --limit 100 --json'],
  async run({ args, output, environment }) {
    const symbol = readMarket(args.operands[0]!)
    const interval = readChoice(args.text('interval') ?? DEFAULT_INTERVAL, '--interval', INTERVALS)
    const count = readWhole(args.text('limit') ?? DEFAULT_COUNT, '--limit', { min: 1, max: MAX_COUNT })
    const to = environment.now()
    // Begins of candles are multiples of their width, and the current one has begun already.
    const width = CANDLE_INTERVALS[interval]
    const from = (Math.floor(to / width) - count + 1) * width
    const candles = (await environment.publicClient().markets.candles(symbol, { interval, from, to })).slice(-count)
    output.answer(candles, () =>
      candles.length === 0 ? ['There are no candles.'] : formatTable(candles, CANDLE_COLUMNS, output),
    )
  },
}
