import type { Price, PricesEvent, StreamStatus } from '@bezel/sdk'
import { readMarket, requireMarkets } from '../../arguments/readers.ts'
import { formatTable, type Column } from '../../output/formatTable.ts'
import { type Output, showStreamStatus } from '../../output/createOutput.ts'
import { shortPrice, shortTime } from '../../output/text.ts'
import type { Command } from '../command.ts'
import { MARKETS_OPERAND } from './markets.ts'

const COLUMNS: readonly Column<Price>[] = [
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
  output.answer(prices, () => formatTable(prices, COLUMNS, output))
}

/** Returns the prices of the given markets, in the order of `symbols`. */
function selected(prices: readonly Price[], symbols: readonly string[]): Price[] {
  return symbols.flatMap((symbol) => prices.find(({ market }) => market === symbol) ?? [])
}

function show(output: Output, { data }: PricesEvent, latest: Map<string, Price>, symbols: readonly string[]): void {
  for (const changed of data) latest.set(changed.market, changed)
  if (output.isTerminal) {
    const rows = selected([...latest.values()], symbols)
    return output.redraw(formatTable(rows, COLUMNS, output))
  }
  for (const changed of data) {
    output.event(changed, () => [`${shortTime(changed.updatedAt)}  ${changed.market}  ${shortPrice(changed.mark)}`])
  }
}
