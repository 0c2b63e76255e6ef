import {
  formatDecimal,
  scaleDecimalTruncated,
  type ChainSlug,
  type Decimal,
  type FillAction,
  type FillHistoryEntry,
  type RecentTrade,
} from '@bezel/protocol'
import { listPairFills, type FillCursor } from '../store/fillStore.ts'
import type { Sql } from '../store/sql.ts'

const SIZE_DECIMALS = 18
const PRICE_DECIMALS = 10
const PRICE_ONE = 10n ** 10n
const USD_DECIMALS = 18
/** Read at a time, at least: what is left out costs no round trip each. */
const MIN_PAGE = 100

/** Told in a trader's history, but it trades nothing. */
const LEVERAGE_UPDATE: FillAction = 'TradeLeverageUpdate'

/** A fill as everybody may see it, without whose it is; `undefined` when nothing was traded. */
export function recentTrade({
  market,
  action,
  side,
  price,
  size,
  timestamp,
  txHash,
}: FillHistoryEntry): RecentTrade | undefined {
  const tokens = scaled(size, SIZE_DECIMALS)
  if (market === null || action === LEVERAGE_UPDATE || tokens === 0n) return undefined
  // Cut after 18 decimals.
  const sizeUsd = formatDecimal((tokens * scaled(price, PRICE_DECIMALS)) / PRICE_ONE, USD_DECIMALS)
  return { market, price, sizeUsd, side, action, timestamp, txHash }
}

/** The last trades of a pair, newest first: `limit` of them if there are so many, however much else is in the history. */
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

/** Histories keep numbers in their canonical form. */
function scaled(stored: string, decimals: number): bigint {
  return scaleDecimalTruncated(stored as Decimal, decimals)
}
