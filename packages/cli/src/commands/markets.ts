import { nearestName } from '@bezel/protocol/program'
import { formatDecimal, scaleDecimalTruncated, type Decimal } from '@bezel/protocol/wire'
import type { MarketRecord, Price } from '@bezel/sdk'
import { readMarket } from '../arguments/readers.ts'
import { type Column, formatTable } from '../output/formatTable.ts'
import { shortDecimal } from '../output/text.ts'
import type { Command } from './command.ts'
import { UsageError } from '../errors/cliError.ts'

interface Row {
  readonly market: MarketRecord
  readonly price: Price | undefined
}

/** Places of a rate that are shown, which as a percentage are two fewer. */
const RATE_PLACES = 8

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

/** Formats a rate in percent. On the wire rates are fractions. */
function percent(rate: string): string {
  return `${formatDecimal(scaleDecimalTruncated(rate as Decimal, RATE_PLACES), RATE_PLACES - 2)}%`
}

/** `bezel markets`. */
export const marketsCommand: Command = {
  name: 'markets',
  summary: 'lists all markets of the chain, or the given ones',
  operands: [{ name: 'MARKET', what: 'market, for instance BTC/USD (default: all)', isOptional: true, isMany: true }],
  options: {},
  examples: ['markets', 'markets BTC/USD ETH/USD --json'],
  async run({ args, output, environment }) {
    const wanted = args.operands.map(readMarket)
    const client = environment.publicClient()
    const list = requireMarkets(await client.markets.list(), wanted)
    // The terms of trade are worth showing even while the price feed is down.
    const prices = output.isJson ? [] : await client.markets.prices().catch(() => [])
    const rows = list.map((market) => ({ market, price: prices.find((price) => price.market === market.symbol) }))
    output.answer(list, () => formatTable(rows, COLUMNS, output))
  },
}

/**
 * Returns the wanted markets in that order, or all when none is named. Throws with the nearest name for an unknown one.
 */
export function requireMarkets(list: readonly MarketRecord[], wanted: readonly string[]): readonly MarketRecord[] {
  if (wanted.length === 0) return list
  return wanted.map((symbol) => {
    const found = list.find((market) => market.symbol === symbol)
    if (found !== undefined) return found
    // Compares base symbols only: nearly all quote symbols are equal, and would make unrelated markets look alike.
    const base = nearestName(
      symbol.split('/')[0]!,
      list.map((market) => market.base),
    )
    const nearest = list.find((market) => market.base === base)?.symbol
    throw new UsageError(
      `There is no market ${symbol} on this chain. ${nearest === undefined ? 'bezel markets lists them.' : `Did you mean ${nearest}?`}`,
    )
  })
}
