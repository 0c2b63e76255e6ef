import { setImmediate as nextTick } from 'node:timers/promises'
import { BaseSize, type Address, type Decimal, type OrderId } from '@bezel/protocol'
import type { RowMeter } from '../access/weights.ts'
import { MAX_ORDER_FILLS, readOrderFills, type OrderFill } from '../store/facadeFillStore.ts'
import type { FillCursor } from '../store/fillStore.ts'
import { listOrderEvents } from '../store/orderEventStore.ts'
import { netPositions } from './netPositions.ts'
import { valuationMoment } from '../trading/positions/positionAnswer.ts'
import { coinsOf, shownSize, szOf, szText, wholeSz, type Coin } from './coins.ts'
import { cloidOf, directionOfFill, sideOfFill, type BookSide } from './facadeOrder.ts'
import type { FacadeReads } from './facadeReads.ts'
import type { TapeEntry } from './fillTape.ts'
import { nearestPxText, pointed } from './priceText.ts'
import { isOfTrigger, oidOf } from './userOrders.ts'

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

/** A request for a part of a trader's history. */
export interface HistoryRequest {
  /** Times that entries lie between, both included, in epoch ms. Default: everything. */
  readonly sinceMs?: number
  readonly untilMs?: number
  readonly limit: number
  /** Which entries are left out when there are more than `limit`, and which come first. */
  readonly from: 'newest' | 'oldest'
  /** Counts the rows before they are read. */
  readonly meter: RowMeter
}

/** Reads a trader's executions. */
export function readFacadeFills(reads: FacadeReads, trader: Address, of: HistoryRequest): Promise<FacadeFill[]> {
  return readCoinEntries(reads, trader, { ...of, isAsked: ({ isFill }) => isFill }, (entry) =>
    facadeFill(reads, trader, entry),
  )
}

type EntryRequest = HistoryRequest & { readonly isAsked: (entry: TapeEntry) => boolean }

/** Reads what `tell` makes of a trader's entries. An entry of which it makes nothing is left out. */
export async function readCoinEntries<Told>(
  reads: FacadeReads,
  trader: Address,
  of: EntryRequest,
  tell: (entry: CoinEntry) => Told | undefined | Promise<Told | undefined>,
): Promise<Told[]> {
  const asked = select(reads, trader, await reads.tapes.of(trader, of.meter), of)
  const told: Told[] = []
  for (let at = 0; at < asked.length; at += MAX_ORDER_FILLS) {
    const page = asked.slice(at, at + MAX_ORDER_FILLS)
    await of.meter.add(page.length)
    // Whoever asks for less gets a turn between two pages.
    if (at > 0) await nextTick()
    const ids = page.map(({ id }) => id)
    const rows = await readOrderFills(reads.sql, ids)
    for (const { id, ...rest } of page) {
      const entry = rows.get(id)
      // Absent when its block was undone meanwhile.
      const shown = entry === undefined ? undefined : tell({ ...rest, entry })
      const known = shown instanceof Promise ? await shown : shown
      if (known !== undefined) told.push(known)
    }
  }
  return told
}

type SelectedEntry = Omit<CoinEntry, 'entry'> & Pick<TapeEntry, 'id'>

/**
 * Returns the entries of a tape that a request asks for, in its order. The net position before each is derived from the
 * present one, by going back through all later entries.
 */
function select(
  reads: FacadeReads,
  trader: Address,
  tape: readonly TapeEntry[],
  { sinceMs = 0, untilMs = Number.POSITIVE_INFINITY, limit, from, isAsked }: EntryRequest,
): readonly SelectedEntry[] {
  const { universe } = coinsOf(reads.markets())
  const isWanted = (entry: TapeEntry): boolean =>
    entry.timeMs >= sinceMs && entry.timeMs <= untilMs && isAsked(entry) && universe[entry.pairIndex] !== undefined
  const end = from === 'newest' ? tape.length : endOfFirst(tape, limit, isWanted)
  const sizes = presentSizes(reads, trader)
  const selected: SelectedEntry[] = []
  for (let at = tape.length - 1; at >= 0 && selected.length < limit; at -= 1) {
    const entry = tape[at]!
    const sizeBefore = BaseSize.of((sizes.get(entry.pairIndex) ?? BaseSize.zero) - entry.size)
    sizes.set(entry.pairIndex, sizeBefore)
    const { id, isFill } = entry
    if (at < end && isWanted(entry)) selected.push({ id, isFill, sizeBefore, coin: universe[entry.pairIndex]! })
  }
  return from === 'newest' ? selected : selected.toReversed()
}

/** Returns the place behind the first `limit` wanted entries of a tape. */
function endOfFirst(tape: readonly TapeEntry[], limit: number, isWanted: (entry: TapeEntry) => boolean): number {
  let found = 0
  const last = tape.findIndex((entry) => isWanted(entry) && ++found === limit)
  return last === -1 ? tape.length : last + 1
}

/** Returns the present net sizes of a trader by pair. */
function presentSizes(reads: FacadeReads, trader: Address): Map<number, BaseSize> {
  const chain = reads.markets()
  const at = valuationMoment(chain, reads.head())
  const positions = netPositions(reads.positionsOf(trader), chain, reads.lastQuote, at)
  return new Map(positions.map(({ coin, size }) => [coin.pairIndex, size]))
}

/** Returns an execution in the facade's shape, synchronously where nothing more has to be read. */
function facadeFill(reads: FacadeReads, trader: Address, told: CoinEntry): FacadeFill | Promise<FacadeFill> {
  const { fill, order } = told.entry
  if (order === undefined) return writeFill(trader, told, fill.id, szText(told.coin, fill.size as Decimal))
  if (order.legCount > 1 || isOfTrigger(order)) return readFill(reads, trader, told, order)
  return writeFill(trader, told, Number(order.id), szText(told.coin, fill.size as Decimal))
}

async function readFill(
  reads: FacadeReads,
  trader: Address,
  told: CoinEntry,
  order: NonNullable<OrderFill['order']>,
): Promise<FacadeFill> {
  const oid = Number(await oidOf(reads, order))
  return writeFill(trader, told, oid, await sizeText(reads, told.entry, told.coin))
}

function writeFill(
  trader: Address,
  { entry: { fill, order }, coin, sizeBefore }: CoinEntry,
  oid: number,
  sz: Decimal,
): FacadeFill {
  const px = nearestPxText(coin, fill.price as Decimal)
  const cloid = cloidOf(order?.clientId ?? null)
  return {
    coin: coin.name,
    px,
    sz: pointed(sz),
    side: sideOfFill(fill),
    time: fill.timestamp,
    startPosition: pointed(szOf(coin, sizeBefore)),
    dir: directionOfFill(fill),
    closedPnl: pointed(fill.pnl),
    hash: fill.txHash,
    oid,
    crossed: true,
    fee: pointed(fill.feeCollateral ?? order?.amounts?.feeCollateral ?? '0'),
    tid: fill.id,
    feeToken: fill.collateralSymbol ?? order?.amounts?.collateral ?? 'USDC',
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
