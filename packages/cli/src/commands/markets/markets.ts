import { decimal, type MarketRecord, type Price, type MarketFunding } from '@bezel/sdk'
import { readMarket, requireMarkets } from '../../arguments/readers.ts'
import { type Column, formatTable } from '../../output/formatTable.ts'
import { percentOf, shortLeverage, shortPrice, shortValue, shortDecimal } from '../../output/text.ts'
import type { Command } from '../command.ts'

interface Row {
  readonly market: MarketRecord
  readonly price: Price | undefined
}

const MARKET_COLUMNS: readonly Column<Row>[] = [
  { title: 'MARKET', cell: ({ market }) => market.symbol },
  { title: 'MARK', cell: ({ price }) => (price === undefined ? '-' : shortPrice(price.mark)), isNumber: true },
  {
    title: 'STATE',
    cell: ({ market }) => (market.isOpen ? 'open' : 'closed'),
    paint: ({ market }, style) => (market.isOpen ? style.good : style.dim),
  },
  { title: 'GROUP', cell: ({ market }) => market.group, drop: 1 },
  {
    title: 'LEVERAGE',
    cell: ({ market }) => `${market.minLeverage}-${shortLeverage(market.maxLeverage)}`,
    isNumber: true,
  },
  { title: 'OPEN FEE', cell: ({ market }) => percentOf(market.fees.openFeeRate), isNumber: true, drop: 2 },
  { title: 'MIN FEE', cell: ({ market }) => shortValue(minFeeUsdOf(market)), isNumber: true, drop: 3 },
  { title: 'MIN SIZE', cell: ({ market }) => shortValue(market.minPositionUsd), isNumber: true, drop: 3 },
]

/** Returns the least fee of an opening in USD, before the trader's fee tier: a small trade pays more than the rate. */
function minFeeUsdOf({ fees }: MarketRecord): string {
  return decimal.mul(fees.openFeeRate, fees.minPositionSizeUsd)
}

/** The operand of commands that show all markets or some of them. */
export const MARKETS_OPERAND: Command['operands'] = [
  { name: 'MARKET', what: 'market, for instance BTC/USD (default: all)', isOptional: true, isMany: true },
]

/** The operand of commands that show one market. */
export const MARKET_OPERAND: Command['operands'] = [{ name: 'MARKET', what: 'market, for instance BTC/USD' }]

/** `bezel markets`. */
export const marketsCommand: Command = {
  name: 'markets',
  summary: 'lists all markets of the chain, or the given ones',
  operands: MARKETS_OPERAND,
  options: {},
  examples: ['markets', 'markets BTC/USD ETH/USD --json'],
  async run({ args, output, environment }) {
    const wanted = args.operands.map(readMarket)
    const client = environment.publicClient()
    const list = requireMarkets(await client.markets.list(), wanted)
    // The terms of trade are worth showing even while the price feed is down.
    const prices = output.isJson ? [] : await client.markets.prices().catch(() => [])
    const rows = list.map((market) => ({ market, price: prices.find((price) => price.market === market.symbol) }))
    output.answer(list, () => [
      ...formatTable(rows, MARKET_COLUMNS, output),
      '',
      'MIN FEE and MIN SIZE: the least fee and notional of an opening, in USD.',
    ])
  },
}

/** Decimals of a rate in percent per hour. */
const RATE_PLACES = 6

const FUNDING_COLUMNS: readonly Column<MarketFunding>[] = [
  { title: 'MARKET', cell: ({ market }) => market },
  { title: 'LONGS PAY', cell: ({ fundingRateLongHourly }) => rate(fundingRateLongHourly), isNumber: true },
  { title: 'SHORTS PAY', cell: ({ fundingRateShortHourly }) => rate(fundingRateShortHourly), isNumber: true },
  { title: 'BORROWING', cell: ({ borrowingRateHourly }) => rate(borrowingRateHourly), isNumber: true },
  {
    title: 'LONG USD',
    cell: ({ openInterestLongUsd }) => shortValue(openInterestLongUsd),
    isNumber: true,
    drop: 2,
  },
  {
    title: 'SHORT USD',
    cell: ({ openInterestShortUsd }) => shortValue(openInterestShortUsd),
    isNumber: true,
    drop: 2,
  },
  { title: 'SKEW USD', cell: ({ skewUsd }) => shortValue(skewUsd), isNumber: true, drop: 1 },
]

/** `bezel funding`. */
export const fundingCommand: Command = {
  name: 'funding',
  summary: 'shows funding and borrowing rates in percent per hour, and the open interest',
  operands: MARKETS_OPERAND,
  options: {},
  examples: ['funding', 'funding BTC/USD ETH/USD --json'],
  async run({ args, output, environment }) {
    const wanted = args.operands.map(readMarket)
    const list = requireMarkets(await environment.publicClient().markets.list(), wanted)
    const rows = list.map(({ symbol, funding }): MarketFunding => ({ market: symbol, ...funding }))
    output.answer(rows, () => [
      ...formatTable(rows, FUNDING_COLUMNS, output),
      '',
      'Rates in percent per hour of the position size. A negative one is received.',
    ])
  },
}

function rate(percent: string): string {
  return `${shortDecimal(percent, RATE_PLACES)} %`
}
