import { formatDecimal, scaleDecimalTruncated, type Decimal } from '@bezel/protocol'
import type { MarketRecord, Price } from '@bezel/sdk'
import { readMarket } from '../arguments/readMarket.ts'
import type { Column } from '../output/formatTable.ts'
import { formatTable } from '../output/formatTable.ts'
import { shortDecimal } from '../output/shortDecimal.ts'
import type { Command } from './command.ts'
import { requireMarkets } from './requireMarkets.ts'

interface Row {
  readonly market: MarketRecord
  readonly price: Price | undefined
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'MARKET', cell: ({ market }) => market.symbol },
  { title: 'MARK', cell: ({ price }) => price?.mark ?? '-', isNumber: true },
  {
    title: 'STATE',
    cell: ({ market }) => (market.isOpen ? 'open' : 'closed'),
    paint: ({ market }, style) => (market.isOpen ? style.good : style.dim),
  },
  { title: 'GROUP', cell: ({ market }) => market.group, drop: 1 },
  { title: 'LEVERAGE', cell: ({ market }) => `${market.minLeverage}-${market.maxLeverage}x`, isNumber: true },
  { title: 'OPEN FEE', cell: ({ market }) => percent(market.fees.openFeeRate), isNumber: true, drop: 2 },
  { title: 'MIN USD', cell: ({ market }) => shortDecimal(market.minPositionUsd, 2), isNumber: true, drop: 3 },
]

/** Rates are fractions on the wire. */
function percent(rate: string): string {
  return `${formatDecimal(scaleDecimalTruncated(rate as Decimal, 8), 6)}%`
}

/** `bezel markets`. */
export const markets: Command = {
  name: 'markets',
  summary: 'lists the markets of the chain, or those named',
  operands: [{ name: 'MARKET', what: 'for instance BTC/USD', isOptional: true, isMany: true }],
  options: {},
  examples: ['markets', 'markets BTC/USD ETH/USD --json'],
  async run({ args, output, environment }) {
    const wanted = args.operands.map(readMarket)
    const client = environment.publicClient()
    const list = requireMarkets(await client.markets.list(), wanted)
    // Terms of trade are worth showing also while the price feed is away.
    const prices = output.isJson ? [] : await client.markets.prices().catch(() => [])
    const rows = list.map((market) => ({ market, price: prices.find((price) => price.market === market.symbol) }))
    output.answer(list, () => formatTable(rows, COLUMNS, output))
  },
}
