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

/** An entry of a trader's history in a coin of the facade. */
export interface CoinEntry {
  readonly entry: OrderFill
  readonly coin: Coin
  /** Signed net size in the coin before the entry. */
  readonly sizeBefore: BaseSize
  /** True for an execution, which is a fill; false for a change of leverage and a refusal, which trade nothing. */
  readonly isFill: boolean
}

const PAGE = 500

/** Largest number of entries that one request scans. Hyperliquid gives access to the last 10,000 too. */
const MAX_SCANNED = 10_000

/** Reads a trader's executions since a time, newest first, at most `limit` of them. */
export async function readFacadeFills(
  reads: FacadeReads,
  trader: Address,
  of: { readonly sinceMs: number; readonly limit: number },
): Promise<FacadeFill[]> {
  return readCoinEntries(reads, trader, of, async (entry) =>
    entry.isFill ? facadeFill(reads, trader, entry) : undefined,
  )
}

/**
 * Reads what `tell` makes of a trader's entries since a time, newest first, at most `limit` of them. An entry of which
 * it makes nothing is left out.
 */
export async function readCoinEntries<Told>(
  reads: FacadeReads,
  trader: Address,
  of: { readonly sinceMs: number; readonly limit: number },
  tell: (entry: CoinEntry) => Told | undefined | Promise<Told | undefined>,
): Promise<Told[]> {
  const inCoin = createCoinTeller(reads, trader)
  const told: Told[] = []
  let cursor: FillCursor | undefined
  for (let scanned = 0; scanned < MAX_SCANNED && told.length < of.limit; scanned += PAGE) {
    const page = await listOrderFills(reads.sql, { chain: reads.chain, trader, cursor, limit: PAGE })
    for (const entry of page) {
      if (entry.fill.timestamp < of.sinceMs) return told
      const found = inCoin(entry)
      const shown = found === undefined ? undefined : await tell(found)
      if (shown !== undefined && told.length < of.limit) told.push(shown)
    }
    if (page.length < PAGE) break
    cursor = page.at(-1)?.cursor
  }
  return told
}

/**
 * Returns a function to be called with entries from the newest to the oldest. It derives the net position before each
 * from the present one.
 */
function createCoinTeller(reads: FacadeReads, trader: Address): (entry: OrderFill) => CoinEntry | undefined {
  const chain = reads.markets()
  const { universe } = coinsOf(chain)
  const at = valuationMoment(chain, reads.head())
  const sizes = new Map(
    netPositions(reads.positionsOf(trader), chain, reads.quote, at).map(({ coin, size }) => [coin.pairIndex, size]),
  )
  return (entry) => {
    const coin = universe[entry.pairIndex]
    if (coin === undefined) return undefined
    const isFill = recentTrade(entry.fill) !== undefined
    const sizeAfter = sizes.get(entry.pairIndex) ?? BaseSize.zero
    const size = isFill ? BaseSize.parseTruncated(entry.fill.size as Decimal) : BaseSize.zero
    const sizeBefore = BaseSize.of(sideOfFill(entry.fill) === 'B' ? sizeAfter - size : sizeAfter + size)
    sizes.set(entry.pairIndex, sizeBefore)
    return { entry, coin, sizeBefore, isFill }
  }
}

async function facadeFill(
  reads: FacadeReads,
  trader: Address,
  { entry, coin, sizeBefore }: CoinEntry,
): Promise<FacadeFill> {
  const { fill, order } = entry
  const px = nearestPxText(coin, fill.price as Decimal)
  const cloid = cloidOf(order?.clientId ?? null)
  const oid = order === undefined ? fill.id : Number(await oidOf(reads, order))
  return {
    coin: coin.name,
    px,
    sz: pointed(await sizeText(reads, entry, coin)),
    side: sideOfFill(fill),
    time: fill.timestamp,
    startPosition: pointed(szOf(coin, sizeBefore)),
    dir: directionOfFill(fill),
    closedPnl: pointed(fill.pnl),
    hash: fill.txHash,
    oid,
    crossed: true,
    fee: pointed(fill.feeCollateral ?? order?.feeCollateral ?? '0'),
    tid: fill.id,
    feeToken: fill.collateralSymbol ?? order?.collateral ?? 'USDC',
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
