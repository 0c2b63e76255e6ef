import type { MarketFunding } from '@bezel/sdk'
import { readMarket, requireMarkets } from '../../arguments/readers.ts'
import { formatTable, type Column } from '../../output/formatTable.ts'
import { shortDecimal, shortValue } from '../../output/text.ts'
import type { Command } from '../command.ts'
import { MARKETS_OPERAND } from './markets.ts'

/** Decimals of a rate in percent per hour. */
const RATE_PLACES = 6

const COLUMNS: readonly Column<MarketFunding>[] = [
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
      ...formatTable(rows, COLUMNS, output),
      '',
      'Rates in percent per hour of the position size. A negative one is received.',
    ])
  },
}

function rate(percent: string): string {
  return `${shortDecimal(percent, RATE_PLACES)} %`
}
