import type { FillHistoryEntry, Order, Position } from '@bezel/protocol/wire'
import { decimal } from '../markets/decimal.ts'

/** The sums of an account in one collateral. Amounts are exact, in whole tokens of the collateral. */
export interface CollateralBooks {
  /** Symbol of the token. */
  readonly collateralSymbol: string
  /** Number of entries of the history that were added up. */
  readonly entries: number
  /** Tokens that left the wallet. */
  readonly deposit: string
  /** Tokens that reached the wallet. */
  readonly payout: string
  /** Price profit of what was closed, before all fees. */
  readonly pnl: string
  /** Trading fees, and fees that were charged for refusals. */
  readonly feeCollateral: string
  /** Funding fees that were realised; negative when they were earned. */
  readonly fundingFee: string
  /** Borrowing fees that were realised. */
  readonly borrowingFee: string
  /** Part of `netPnl` that neither the price nor a fee explains. */
  readonly forfeited: string
  /** Change of the account's worth by all entries. */
  readonly netPnl: string
  /** Tokens in the open positions: the sum of their `collateral` and `realized`. */
  readonly inPositions: string
  /**
   * deposit - payout + netPnl - inPositions: "0" when the books balance. They are off when something was executed
   * between the two reads, and by positions that were open before the service followed the chain.
   */
  readonly difference: string
}

/** Amounts of an entry that are added up. Entries that an earlier version of the service stored have none. */
type Amount = Exclude<keyof CollateralBooks, 'collateralSymbol' | 'entries' | 'inPositions' | 'difference'>

/**
 * Adds up the whole history and the open positions of an account for each collateral, to the last digit: what went in
 * and did not come out is in open positions, or was lost.
 */
export function addUpBooks(fills: readonly FillHistoryEntry[], positions: readonly Position[]): CollateralBooks[] {
  const symbols = new Set([...fills, ...positions].flatMap(({ collateralSymbol }) => collateralSymbol ?? []))
  return [...symbols].toSorted().map((collateralSymbol) => {
    const entries = fills.filter((entry) => entry.collateralSymbol === collateralSymbol)
    const held = positions.filter((position) => position.collateralSymbol === collateralSymbol)
    const total = (name: Amount): string => sum(entries.map((entry) => entry[name]))
    const [deposit, payout, netPnl] = [total('deposit'), total('payout'), total('netPnl')]
    const inPositions = sum(held.flatMap(({ collateral, realized }) => [collateral, realized]))
    return {
      collateralSymbol,
      entries: entries.length,
      deposit,
      payout,
      pnl: total('pnl'),
      feeCollateral: total('feeCollateral'),
      fundingFee: total('fundingFee'),
      borrowingFee: total('borrowingFee'),
      forfeited: total('forfeited'),
      netPnl,
      inPositions,
      difference: decimal.sub(decimal.add(decimal.sub(deposit, payout), netPnl), inPositions),
    }
  })
}

function sum(amounts: readonly (string | null)[]): string {
  return amounts.reduce<string>((total, amount) => decimal.add(total, amount ?? '0'), '0')
}

/** The records of an account that are written to CSV files. */
export interface AccountRecords {
  /** The whole history, as `account.allFills` iterates over it. */
  readonly fills: readonly FillHistoryEntry[]
  /** The open positions. */
  readonly positions: readonly Position[]
  /** The open orders. */
  readonly orders: readonly Order[]
}

/** Names of the CSV files. `books.csv` has the sums of `addUpBooks`. */
export type BooksFile = 'fills.csv' | 'positions.csv' | 'orders.csv' | 'books.csv'

const AMOUNT_COLUMNS = 'deposit payout pnl feeCollateral fundingFee borrowingFee forfeited netPnl'
const FILL_COLUMNS = [
  'id timestamp market action side price size collateral leverage collateralSymbol',
  `${AMOUNT_COLUMNS} positionId orderId clientId txHash`,
]
const POSITION_COLUMNS = [
  'id market side size collateral collateralSymbol leverage entryPrice markPrice liquidationPrice',
  'unrealizedPnl unrealizedPnlPercent fundingFee borrowingFee realized sl tp',
]
const ORDER_COLUMNS = [
  'id createdAt market side type status size price leverage collateral sl tp reduceOnly slippage clientId txHash',
]
const BOOK_COLUMNS = [`collateralSymbol entries ${AMOUNT_COLUMNS} inPositions difference`]

const TIME_COLUMNS = ['timestamp', 'createdAt']

/**
 * Returns the records of an account and their sums as CSV files (RFC 4180), by their names. Amounts keep all digits,
 * times are ISO 8601, null is an empty cell. Text that a spreadsheet would take for a formula follows an apostrophe.
 */
export function csvOfBooks({ fills, positions, orders }: AccountRecords): Readonly<Record<BooksFile, string>> {
  return {
    'fills.csv': csvOf(fills, FILL_COLUMNS),
    'positions.csv': csvOf(positions, POSITION_COLUMNS),
    'orders.csv': csvOf(orders, ORDER_COLUMNS),
    'books.csv': csvOf(addUpBooks(fills, positions), BOOK_COLUMNS),
  }
}

function csvOf<Row extends object>(rows: readonly Row[], columns: readonly string[]): string {
  const names = columns.join(' ').split(' ') as (keyof Row & string)[]
  const lines: readonly string[][] = [names, ...rows.map((row) => names.map((name) => cellOf(name, row[name])))]
  return lines.map((cells) => `${cells.map(quoted).join(',')}\r\n`).join('')
}

function cellOf(name: string, value: unknown): string {
  if (value === null || value === undefined) return ''
  if (TIME_COLUMNS.includes(name)) return new Date(Number(value)).toISOString()
  const text = String(value)
  return /^[=+@\t\r]|^-(?!\d)/.test(text) ? `'${text}` : text
}

/** Quotes a cell with a comma, a quote or a line end, and doubles its own quotes. */
function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}
