import { decimal, type FillHistoryEntry } from '@bezel/sdk'

/** The names of the lines that the history draws. */
export const LINES = ['equity', 'netPnl', 'fees', 'funding', 'borrowing'] as const
export type LineName = (typeof LINES)[number]

/** A point of a line: seconds since the epoch, and an exact amount in tokens of the collateral. */
export interface LinePoint {
  readonly time: number
  readonly value: string
}

/** The lines of one collateral, each with ascending and different times. */
export interface EquityLines {
  readonly collateralSymbol: string
  readonly lines: Readonly<Record<LineName, readonly LinePoint[]>>
}

/** Present worth of an account in one collateral. */
export interface WorthNow {
  /** Tokens in the wallet, in positions and in orders, without profit that is not realised. */
  readonly booked: string
  /** The same with the open profit at the mark. */
  readonly live: string
  /** Time of it in epoch milliseconds. */
  readonly atMs: number
}

/** Symbols of the collaterals that a history is about, the one with most entries first. */
export function collateralsOf(fills: readonly FillHistoryEntry[]): string[] {
  const counts = new Map<string, number>()
  for (const { collateralSymbol } of fills) {
    if (collateralSymbol !== null) counts.set(collateralSymbol, (counts.get(collateralSymbol) ?? 0) + 1)
  }
  return [...counts.entries()].toSorted(([a, n], [b, m]) => m - n || a.localeCompare(b)).map(([symbol]) => symbol)
}

/**
 * Draws the history of one collateral as lines. PnL, fees and funding are running sums that begin at 0. Equity is drawn
 * back from what the account is worth now, so payments to and from the wallet, which no ledger of trades knows, move
 * the whole line and never its shape. Its last point has the open profit too. Entries that an earlier version of the
 * service stored have no amounts and are left out.
 */
export function equityLines(
  fills: readonly FillHistoryEntry[],
  collateralSymbol: string,
  worth: WorthNow | null,
): EquityLines {
  const entries = fills
    .filter((entry) => entry.collateralSymbol === collateralSymbol && entry.netPnl !== null)
    .toSorted((a, b) => a.timestamp - b.timestamp || a.id - b.id)
  const endMs = Math.max(worth?.atMs ?? 0, entries.at(-1)?.timestamp ?? 0)
  const line = (amountOf: (entry: FillHistoryEntry) => string | null): LinePoint[] =>
    runningSum(entries, amountOf, endMs)
  const netPnl = line((entry) => entry.netPnl)
  return {
    collateralSymbol,
    lines: {
      equity: worth === null ? [] : equityOf(netPnl, worth),
      netPnl,
      fees: line((entry) => negated(entry.feeCollateral)),
      funding: line((entry) => negated(entry.fundingFee)),
      borrowing: line((entry) => negated(entry.borrowingFee)),
    },
  }
}

/** Seconds before the first entry at which the lines begin, so that the first change is a step and not a start. */
const LEAD_S = 60

function runningSum(
  entries: readonly FillHistoryEntry[],
  amountOf: (entry: FillHistoryEntry) => string | null,
  endMs: number,
): LinePoint[] {
  const [first] = entries
  if (first === undefined) return []
  const points: LinePoint[] = [{ time: secondsOf(first.timestamp) - LEAD_S, value: '0' }]
  let sum = '0'
  for (const entry of entries) {
    sum = decimal.add(sum, amountOf(entry) ?? '0')
    push(points, { time: secondsOf(entry.timestamp), value: sum })
  }
  push(points, { time: secondsOf(endMs), value: sum })
  return points
}

/** Adds a point, in place of the last one when it is of the same second: a chart has one value for each time. */
function push(points: LinePoint[], point: LinePoint): void {
  if (points.at(-1)?.time === point.time) points.pop()
  points.push(point)
}

function equityOf(netPnl: readonly LinePoint[], { booked, live, atMs }: WorthNow): LinePoint[] {
  const last = netPnl.at(-1)
  if (last === undefined) return [{ time: secondsOf(atMs), value: live }]
  const start = decimal.sub(booked, last.value)
  const points = netPnl.map(({ time, value }) => ({ time, value: decimal.add(start, value) }))
  push(points, { time: last.time, value: live })
  return points
}

function negated(amount: string | null): string | null {
  return amount === null ? null : decimal.sub('0', amount)
}

function secondsOf(ms: number): number {
  return Math.floor(ms / 1000)
}
