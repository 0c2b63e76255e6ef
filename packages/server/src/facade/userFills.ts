import { BaseSize, type Address, type Decimal, type OrderId } from '@bezel/protocol'
import { recentTrade } from '../market/recentTrades.ts'
import { listOrderFills, type OrderFill } from '../store/facadeFillStore.ts'
import type { FillCursor } from '../store/fillStore.ts'
import { listOrderEvents } from '../store/orderEventStore.ts'
import { netPositions } from './netPositions.ts'
import { valuationMoment } from '../trading/positions/positionAnswer.ts'
import { coinsOf, shownSize, szOf, szText, wholeSz, type Coin } from './coins.ts'
import { cloidOf, directionOfFill, sideOfFill, type BookSide } from './facadeOrder.ts'
import type { FacadeReads } from './facadeReads.ts'
import { nearestPxText, pointed } from './priceText.ts'
import { oidOf } from './userOrders.ts'

/** An execution in the shape that clients of the facade read. */
export interface FacadeFill {
  readonly coin: string
  readonly px: string
  readonly sz: string
  readonly side: BookSide
  readonly time: number
  /** Signed net size in the coin before this execution. */
  readonly startPosition: string
  readonly dir: string
  readonly closedPnl: string
  readonly hash: string
  readonly oid: number
  readonly crossed: boolean
  readonly fee: string
  readonly tid: number
  readonly feeToken: string
  readonly cloid?: string
  readonly twapId: null
  readonly liquidation?: { readonly liquidatedUser: string; readonly markPx: string; readonly method: 'market' }
}

const PAGE = 500

/** Largest number of fills that one request scans. Hyperliquid gives access to the last 10,000 too. */
const MAX_SCANNED = 10_000

/** Reads a trader's executions since a time, newest first, at most `limit` of them. */
export async function readFacadeFills(
  reads: FacadeReads,
  trader: Address,
  of: { readonly sinceMs: number; readonly limit: number },
): Promise<FacadeFill[]> {
  const toFill = createFillTeller(reads, trader)
  const told: FacadeFill[] = []
  let cursor: FillCursor | undefined
  for (let scanned = 0; scanned < MAX_SCANNED && told.length < of.limit; scanned += PAGE) {
    const page = await listOrderFills(reads.sql, { chain: reads.chain, trader, cursor, limit: PAGE })
    for (const fill of page) {
      if (fill.fill.timestamp < of.sinceMs) return told
      const shown = await toFill(fill)
      if (shown !== undefined && told.length < of.limit) told.push(shown)
    }
    if (page.length < PAGE) break
    cursor = page.at(-1)?.cursor
  }
  return told
}

/**
 * Returns a function to be called with fills from the newest to the oldest. It derives the net position before each
 * from the present one.
 */
function createFillTeller(reads: FacadeReads, trader: Address): (fill: OrderFill) => Promise<FacadeFill | undefined> {
  const chain = reads.markets()
  const { universe } = coinsOf(chain)
  const at = valuationMoment(chain, reads.head())
  const sizes = new Map(
    netPositions(reads.positionsOf(trader), chain, reads.quote, at).map(({ coin, size }) => [coin.pairIndex, size]),
  )
  return async (filled) => {
    const coin = universe[filled.pairIndex]
    // A change of leverage trades nothing.
    if (coin === undefined || recentTrade(filled.fill) === undefined) return undefined
    const size = BaseSize.parseTruncated(filled.fill.size as Decimal)
    const held = sizes.get(filled.pairIndex) ?? BaseSize.zero
    const before = BaseSize.of(sideOfFill(filled.fill) === 'B' ? held - size : held + size)
    sizes.set(filled.pairIndex, before)
    return facadeFill(reads, trader, filled, coin, before)
  }
}

async function facadeFill(
  reads: FacadeReads,
  trader: Address,
  filled: OrderFill,
  coin: Coin,
  startSize: BaseSize,
): Promise<FacadeFill> {
  const { fill, order } = filled
  const px = nearestPxText(coin, fill.price as Decimal)
  const cloid = cloidOf(order?.clientId ?? null)
  const oid = order === undefined ? fill.id : Number(await oidOf(reads, order))
  return {
    coin: coin.name,
    px,
    sz: pointed(await sizeText(reads, filled, coin)),
    side: sideOfFill(fill),
    time: fill.timestamp,
    startPosition: pointed(szOf(coin, startSize)),
    dir: directionOfFill(fill),
    closedPnl: pointed(fill.pnl),
    hash: fill.txHash,
    oid,
    crossed: true,
    fee: pointed(order?.feeCollateral ?? '0'),
    tid: fill.id,
    feeToken: order?.collateral ?? 'USDC',
    ...(cloid === null ? {} : { cloid }),
    twapId: null,
    ...(fill.action === 'TradeClosedLIQ'
      ? { liquidation: { liquidatedUser: trader.toLowerCase(), markPx: px, method: 'market' as const } }
      : {}),
  }
}

/** Writes the size of a fill, so that the sizes of an order's fills add up to the filled size of the order. */
async function sizeText(reads: FacadeReads, { fill, order, cursor }: OrderFill, coin: Coin): Promise<Decimal> {
  if (order === undefined || order.legCount <= 1) return szText(coin, fill.size as Decimal)
  const before = await filledBefore(reads, order.id, cursor)
  const after = BaseSize.of(before + BaseSize.parseTruncated(fill.size as Decimal))
  return wholeSz(coin, BaseSize.of(shownSize(coin, after) - shownSize(coin, before)))
}

async function filledBefore(
  { sql }: FacadeReads,
  id: OrderId,
  { blockNumber, logIndex }: FillCursor,
): Promise<BaseSize> {
  let size = 0n
  for (const event of await listOrderEvents(sql, id)) {
    const isBefore = event.blockNumber < blockNumber || (event.blockNumber === blockNumber && event.logIndex < logIndex)
    if (isBefore && event.kind === 'executed') size += BaseSize.parseTruncated(event.fill.size as Decimal)
  }
  return BaseSize.of(size)
}
