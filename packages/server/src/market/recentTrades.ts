import { BaseSize, Price, Usd, type ChainSlug, type Decimal, type FillAction, type RecentTrade } from '@bezel/protocol'
import { listPairFills, type FillCursor, type StoredFill } from '../store/fillStore.ts'
import type { Sql } from '../store/sql.ts'

/** The smallest page to read. Fills that are left out then do not cost many small reads. */
const MIN_PAGE = 100

/** Actions that are part of a trader's history, although they trade nothing. */
const UNTRADED: ReadonlySet<string> = new Set<FillAction>([
  'TradeLeverageUpdate',
  'TradeOpenRefused',
  'TradeUpdateRefused',
])

/** True for an execution that traded something in a known market. */
export function isTrade({ market, action, size }: StoredFill): boolean {
  return market !== null && !UNTRADED.has(action) && BaseSize.parseTruncated(size as Decimal) !== 0n
}

/** Returns a fill in its public form, without its trader; `undefined` when nothing was traded. */
export function recentTrade(fill: StoredFill): RecentTrade | undefined {
  const { market, action, side, price, size, timestamp, txHash } = fill
  if (market === null || !isTrade(fill)) return undefined
  const base = BaseSize.parseTruncated(size as Decimal)
  // The value is truncated to 18 decimals.
  const sizeUsd = Usd.format(Usd.of((base * Price.parseTruncated(price as Decimal)) / Price.one))
  return { market, price, sizeUsd, side, action, timestamp, txHash }
}

/**
 * Returns the last trades of a pair, newest first: `limit` of them if there are that many, whatever else the history
 * holds.
 */
export async function listTrades(
  sql: Sql,
  of: { readonly chain: ChainSlug; readonly pairIndex: number; readonly limit: number },
): Promise<RecentTrade[]> {
  const trades: RecentTrade[] = []
  const pageLimit = Math.max(of.limit, MIN_PAGE)
  let cursor: FillCursor | undefined
  while (trades.length < of.limit) {
    const page = await listPairFills(sql, { ...of, cursor, limit: pageLimit })
    trades.push(...page.flatMap(({ fill }) => recentTrade(fill) ?? []))
    if (page.length < pageLimit) break
    cursor = page.at(-1)?.cursor
  }
  return trades.slice(0, of.limit)
}
