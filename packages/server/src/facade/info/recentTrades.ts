import type { Decimal, FillHistoryEntry } from '@bezel/protocol'
import { recentTrade } from '../../market/recentTrades.ts'
import { listPairFills } from '../../store/fillStore.ts'
import { coinsOf, szText, type Coin } from '../coins.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { sideOfFill } from '../fillWords.ts'
import { nearestPxText, pointed } from '../priceText.ts'
import { coinNameOf, type InfoRequest } from './infoRequest.ts'

const MAX_TRADES = 100
/** Who traded is nobody's business, and the other side is a pool. */
const NOBODY = `0x${'0'.repeat(40)}`

/** What was executed last in a coin, newest first; `null` for an unknown one. */
export async function recentTrades(request: InfoRequest, reads: FacadeReads): Promise<unknown> {
  const coin = coinsOf(reads.markets()).named(coinNameOf(request))
  if (coin === undefined) return null
  const { chain, sql } = reads
  const fills = await listPairFills(sql, { chain, pairIndex: coin.pairIndex, cursor: undefined, limit: MAX_TRADES })
  return fills.flatMap(({ fill }) => facadeTrade(coin, fill) ?? [])
}

/** `undefined` when nothing was traded. */
export function facadeTrade(coin: Coin, fill: FillHistoryEntry) {
  if (recentTrade(fill) === undefined) return undefined
  return {
    coin: coin.name,
    side: sideOfFill(fill),
    px: nearestPxText(coin, fill.price as Decimal),
    sz: pointed(szText(coin, fill.size as Decimal)),
    time: fill.timestamp,
    hash: fill.txHash,
    tid: fill.id,
    users: [NOBODY, NOBODY],
  }
}
