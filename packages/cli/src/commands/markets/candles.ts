import { CANDLE_INTERVALS, type CandleInterval } from '@bezel/protocol'
import type { Candle } from '@bezel/sdk'
import { readChoice, readMarket, readWhole } from '../../arguments/readers.ts'
import { formatTable, type Column } from '../../output/formatTable.ts'
import { dateAndTime, shortPrice } from '../../output/text.ts'
import type { Command } from '../command.ts'
import { MARKET_OPERAND } from './markets.ts'

const INTERVALS = Object.keys(CANDLE_INTERVALS) as CandleInterval[]

const DEFAULT_INTERVAL = '1h'

const DEFAULT_COUNT = '20'

/** Most candles that one request may span. */
const MAX_COUNT = 5_000

const COLUMNS: readonly Column<Candle>[] = [
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
      candles.length === 0 ? ['There are no candles.'] : formatTable(candles, COLUMNS, output),
    )
  },
}
