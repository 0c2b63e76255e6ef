import type { Decimal } from '@bezel/protocol'
import { recentTrade } from '../../market/recentTrades.ts'
import { listPairFills, type StoredFill } from '../../store/fillStore.ts'
import { szText, type Coin } from '../coins.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { sideOfFill, type BookSide } from '../facadeOrder.ts'
import { nearestPxText, pointed } from '../priceText.ts'
import { coinRequest, type CoinRequest } from './infoRequest.ts'
import { defineInfo } from './infoType.ts'

/** A trade in the shape that clients of the facade read. */
export interface FacadeTrade {
  readonly coin: string
  readonly side: BookSide
  readonly px: string
  readonly sz: string
  readonly time: number
  readonly hash: string
  readonly tid: number
  readonly users: readonly [buyer: string, seller: string]
}

const MAX_TRADES = 100

/** Zero address in place of both parties: traders are not disclosed, and the other side is a pool. */
const NOBODY = `0x${'0'.repeat(40)}`

/** The last trades in a coin, newest first. `null` for an unknown coin. */
export const recentTrades = defineInfo<CoinRequest, readonly FacadeTrade[] | null>({
  parse: coinRequest,
  answer: ({ coin }, reads) => (coin === undefined ? null : listFacadeTrades(reads, coin)),
})

export async function listFacadeTrades({ chain, sql }: FacadeReads, coin: Coin): Promise<readonly FacadeTrade[]> {
  const fills = await listPairFills(sql, { chain, pairIndex: coin.pairIndex, cursor: undefined, limit: MAX_TRADES })
  return fills.flatMap(({ fill }) => facadeTrade(coin, fill) ?? [])
}

/** Returns a fill in the facade's shape, or `undefined` when it traded nothing. */
function facadeTrade(coin: Coin, fill: StoredFill): FacadeTrade | undefined {
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
