import { CollateralAmount, type Decimal } from '@bezel/protocol'
import type { FillHistoryEntry, Position } from '@bezel/sdk'
import { readWhole } from '../arguments/readers.ts'
import type { Output } from '../output/createOutput.ts'
import { showList, type Column } from '../output/formatTable.ts'
import { dateAndTime, paintSide, shortDecimal } from '../output/text.ts'
import type { Command } from './command.ts'

const MAX_PAGE = 500

const DEFAULT_PAGE = '20'

/** The table of `bezel fills`. */
const FILL_COLUMNS: readonly Column<FillHistoryEntry>[] = [
  { title: 'TIME', cell: ({ timestamp }) => dateAndTime(timestamp) },
  { title: 'MARKET', cell: ({ market }) => market ?? '-' },
  { title: 'ACTION', cell: ({ action }) => actionWords(action) },
  { title: 'SIDE', cell: ({ side }) => side, paint: paintSide, drop: 2 },
  { title: 'SIZE', cell: ({ size }) => shortDecimal(size, 6), isNumber: true },
  { title: 'PRICE', cell: ({ price }) => (price === '0' ? '-' : shortDecimal(price, 6)), isNumber: true },
  { title: 'PNL', cell: ({ pnl }) => shortDecimal(pnl, 6), isNumber: true, drop: 1 },
  { title: 'FEE', cell: ({ feeCollateral }) => amount(feeCollateral), isNumber: true, drop: 3 },
  { title: 'FUNDING', cell: ({ fundingFee }) => amount(fundingFee), isNumber: true, drop: 4 },
  { title: 'BORROWING', cell: ({ borrowingFee }) => amount(borrowingFee), isNumber: true, drop: 4 },
  { title: 'FORFEITED', cell: ({ forfeited }) => amount(forfeited), isNumber: true, drop: 5 },
  {
    title: 'NET',
    cell: ({ netPnl, collateralSymbol }) => (netPnl === null ? '-' : `${amount(netPnl)} ${collateralSymbol ?? ''}`),
    isNumber: true,
    paint: ({ netPnl }, style) => (netPnl?.startsWith('-') === true ? style.bad : style.good),
  },
  { title: 'POSITION', cell: ({ positionId }) => positionId, isNumber: true, drop: 6 },
  { title: 'ORDER', cell: ({ orderId }) => orderId ?? '', isNumber: true, drop: 6 },
]

/** `bezel fills`. */
export const fillsCommand: Command = {
  name: 'fills',
  summary: 'lists what was executed and what it cost, and adds it up',
  operands: [],
  options: {
    limit: { type: 'string', value: 'N', what: `number of entries, newest first (default: ${DEFAULT_PAGE})` },
    all: { type: 'boolean', what: 'the whole history instead, and whether the books balance' },
  },
  examples: ['fills', 'fills --all --json'],
  async run({ args, output, environment }) {
    const limit = readWhole(args.text('limit') ?? DEFAULT_PAGE, '--limit', { min: 1, max: MAX_PAGE })
    const { account, trader } = await environment.readingClient()
    const isAll = args.flag('all')
    const rows = isAll
      ? await Array.fromAsync(account.allFills({ pageSize: MAX_PAGE }))
      : (await account.fills({ limit })).data
    const owner = environment.labelOf(await trader())
    showList(output, { rows, columns: FILL_COLUMNS, none: 'Nothing was executed.', account: owner })
    tellSums(output, rows)
    if (isAll) tellBooks(output, rows, await account.positions())
  },
}

/** Prints what the entries add up to, in each collateral. */
function tellSums(output: Output, rows: readonly FillHistoryEntry[]): void {
  const told = rows.filter(({ netPnl }) => netPnl !== null)
  for (const [symbol, entries] of Map.groupBy(told, ({ collateralSymbol }) => collateralSymbol ?? '')) {
    const net = sumOf(entries.map(({ netPnl }) => netPnl))
    const fees = sumOf(entries.flatMap((entry) => [entry.feeCollateral, entry.fundingFee, entry.borrowingFee]))
    output.note(
      `Net of ${entries.length} ${entries.length === 1 ? 'entry' : 'entries'}: ${net} ${symbol}, fees ${fees}`,
    )
  }
  const unknown = rows.length - told.length
  if (unknown > 0) output.note(`Without amounts, from before they were kept: ${unknown}`)
}

/**
 * Prints the books of each collateral: what went in and did not come out is in open positions, or was lost. They are
 * off when something was executed between the two reads, when entries have no amounts, and by positions that were open
 * before the service followed the chain.
 */
function tellBooks(output: Output, rows: readonly FillHistoryEntry[], positions: readonly Position[]): void {
  const symbols = new Set([...rows, ...positions].flatMap(({ collateralSymbol }) => collateralSymbol ?? []))
  for (const symbol of [...symbols].toSorted()) {
    const entries = rows.filter(({ collateralSymbol }) => collateralSymbol === symbol)
    const open = positions.filter(({ collateralSymbol }) => collateralSymbol === symbol)
    const deposits = sumOf(entries.map(({ deposit }) => deposit))
    const payouts = sumOf(entries.map(({ payout }) => payout))
    const net = sumOf(entries.map(({ netPnl }) => netPnl))
    const held = sumOf(open.flatMap(({ collateral, realized }) => [collateral, realized]))
    const off = sumOf([deposits, negated(payouts), negated(held), net])
    output.note(
      `Books in ${symbol}: deposits ${deposits} - payouts ${payouts} = ${held} in positions - net ${net}: ` +
        (off === '0' ? 'they balance' : `off by ${off}`),
    )
  }
}

/** Adds amounts of one token exactly, in units of the finest of them. */
function sumOf(amounts: readonly (string | null)[]): Decimal {
  const texts = amounts.map((text) => (text ?? '0') as Decimal)
  const decimals = Math.max(0, ...texts.map((text) => text.split('.')[1]?.length ?? 0))
  const sum = texts.reduce((total, text) => total + CollateralAmount.parseTruncated(text, decimals), 0n)
  return CollateralAmount.format(CollateralAmount.of(sum), decimals)
}

function negated(text: Decimal): string {
  if (text === '0') return text
  return text.startsWith('-') ? text.slice(1) : `-${text}`
}

function amount(text: string | null): string {
  return text === null ? '-' : shortDecimal(text, 6)
}

/** Returns an action in words: `TradeClosedMarket` is `closed market`. */
function actionWords(action: string): string {
  return action
    .replace(/^Trade/, '')
    .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase()
}
