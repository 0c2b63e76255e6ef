import type { OrderBook } from '@bezel/sdk'
import { readMarket, readWhole } from '../../arguments/readers.ts'
import { formatTable, type Column } from '../../output/formatTable.ts'
import { plainText, shortPrice, shortSize, shortValue } from '../../output/text.ts'
import type { Command } from '../command.ts'
import { MARKET_OPERAND } from './markets.ts'

const DEFAULT_LEVELS = '10'

const MAX_LEVELS = 30

type Level = OrderBook['asks'][number] & { readonly side: 'ask' | 'bid' }

const COLUMNS: readonly Column<Level>[] = [
  { title: 'SIDE', cell: ({ side }) => side, paint: ({ side }, style) => (side === 'ask' ? style.bad : style.good) },
  { title: 'PRICE', cell: ({ price }) => shortPrice(price), isNumber: true },
  { title: 'SIZE', cell: ({ size }) => shortSize(size), isNumber: true },
  { title: 'USD', cell: ({ sizeUsd }) => shortValue(sizeUsd), isNumber: true, drop: 1 },
  { title: 'TOTAL USD', cell: ({ cumulativeUsd }) => shortValue(cumulativeUsd), isNumber: true },
]

/** `bezel book`. */
export const bookCommand: Command = {
  name: 'book',
  summary: "shows the depth of the contracts around a market's price, asks above bids",
  operands: MARKET_OPERAND,
  options: {
    levels: { type: 'string', value: 'N', what: `levels a side, 1 to ${MAX_LEVELS} (default: ${DEFAULT_LEVELS})` },
  },
  examples: ['book BTC/USD', 'book eth --levels 3 --json'],
  async run({ args, output, environment }) {
    const symbol = readMarket(args.operands[0]!)
    const levels = readWhole(args.text('levels') ?? DEFAULT_LEVELS, '--levels', { min: 1, max: MAX_LEVELS })
    const book = await environment.publicClient().markets.book(symbol, { levels })
    const rows: readonly Level[] = [
      ...book.asks.map((level) => ({ ...level, side: 'ask' as const })).toReversed(),
      ...book.bids.map((level) => ({ ...level, side: 'bid' as const })),
    ]
    output.answer(book, () => [
      ...formatTable(rows, COLUMNS, output),
      '',
      plainText(`${book.market}, mark ${shortPrice(book.markPrice)}`),
    ])
  },
}
