import type { Address, ChainSlug, FillAction, FillHistoryEntry, Hex, OrderId } from '@bezel/protocol'
import type { ChainPlace } from '../trading/orders/orderModel.ts'
import { pointRead } from './pointReads.ts'
import { insertInto } from './rows.ts'
import type { Sql, SqlValue } from './sql.ts'

/** The end of a page of fills: the place of its last entry. */
export interface FillCursor {
  readonly blockNumber: number
  readonly logIndex: number
}

/** An entry of the history as stored. The order that it belongs to is found by its place. */
export type StoredFill = Omit<FillHistoryEntry, 'orderId' | 'clientId'>

/** A fill and its place. */
interface PlacedFill<Fill> {
  readonly fill: Fill
  readonly cursor: FillCursor
}

/** The page of a trader's fills that is asked for: up to `limit` before `cursor`, or the newest. */
interface FillSelection {
  readonly chain: ChainSlug
  readonly trader: Address
  readonly cursor: FillCursor | undefined
  readonly limit: number
}

const INSERT_FILL = insertInto('fills', [
  'id',
  'chain',
  'trader',
  'block_hash',
  'block_number',
  'log_index',
  'pair_index',
  'body',
])

export async function insertFill(
  sql: Sql,
  of: {
    readonly chain: ChainSlug
    readonly trader: Address
    readonly pairIndex: number
    readonly place: ChainPlace
    readonly fill: StoredFill
  },
): Promise<void> {
  sql.write(
    INSERT_FILL,
    BigInt(of.fill.id),
    of.chain,
    of.trader,
    of.place.blockHash,
    of.place.blockNumber,
    of.place.logIndex,
    of.pairIndex,
    JSON.stringify(of.fill),
  )
}

/** Lists the ids of the fills of a block, by log index. */
export async function listFillIds(sql: Sql, chain: ChainSlug, blockHash: Hex): Promise<ReadonlyMap<number, OrderId>> {
  const rows = await sql.all<{ id: bigint; log_index: bigint }>(
    'select id, log_index from fills where chain = $1 and block_hash = $2',
    chain,
    blockHash,
  )
  return new Map(rows.map(({ id, log_index }) => [Number(log_index), String(id) as OrderId]))
}

const FIND_FILL = pointRead('select trader, pair_index, body from fills where id = $1', 'bigint')

/** Finds a fill with its trader and its pair; `undefined` when its block was undone. */
export async function findFill(
  sql: Sql,
  id: StoredFill['id'],
): Promise<{ readonly trader: Address; readonly pairIndex: number; readonly fill: StoredFill } | undefined> {
  const row = await sql.get<{ trader: string; pair_index: bigint; body: string }>(FIND_FILL, BigInt(id))
  if (row === undefined) return undefined
  return {
    trader: row.trader as Address,
    pairIndex: Number(row.pair_index),
    fill: JSON.parse(row.body) as StoredFill,
  }
}

/**
 * Lists up to `limit` fills of a trader before `cursor`, newest first. A fill and the event of its order come from the
 * same log, on which they are joined.
 */
export async function listFills(sql: Sql, of: FillSelection): Promise<PlacedFill<FillHistoryEntry>[]> {
  const { blockNumber, logIndex } = of.cursor ?? NEWEST_FILL
  const params: SqlValue[] = [of.chain, of.trader, blockNumber, logIndex, of.limit]
  const rows = await sql.all<OrderFillRow>(
    `select fills.body, fills.block_number, fills.log_index, orders.id as order_id, orders.client_id
     from fills
     left join order_events on order_events.chain = fills.chain and order_events.block_hash = fills.block_hash
       and order_events.log_index = fills.log_index
     left join orders on orders.id = order_events.order_id
     where fills.chain = $1 and fills.trader = $2 and (fills.block_number, fills.log_index) < ($3, $4)
     order by fills.block_number desc, fills.log_index desc limit $5`,
    ...params,
  )
  return rows.map((row) => ({ fill: entryOf(row), cursor: cursorOf(row) }))
}

/** A fill of a trader, without its order. */
export interface TraderFill extends PlacedFill<StoredFill> {
  readonly pairIndex: number
}

/** Lists up to `limit` fills of a trader before `cursor`, newest first, without their orders. */
export async function listTraderFills(sql: Sql, of: FillSelection): Promise<TraderFill[]> {
  const { blockNumber, logIndex } = of.cursor ?? NEWEST_FILL
  const rows = await sql.all<FillRow & { readonly pair_index: bigint }>(
    `select body, pair_index, block_number, log_index from fills
     where chain = $1 and trader = $2 and (block_number, log_index) < ($3, $4)
     order by block_number desc, log_index desc limit $5`,
    of.chain,
    of.trader,
    blockNumber,
    logIndex,
    of.limit,
  )
  return rows.map((row) => ({
    fill: JSON.parse(row.body) as StoredFill,
    pairIndex: Number(row.pair_index),
    cursor: cursorOf(row),
  }))
}

/** Lists up to `limit` fills of all traders in one pair before `cursor`, newest first. */
export async function listPairFills(
  sql: Sql,
  of: {
    readonly chain: ChainSlug
    readonly pairIndex: number
    readonly cursor: FillCursor | undefined
    readonly limit: number
  },
): Promise<PlacedFill<StoredFill>[]> {
  const { blockNumber, logIndex } = of.cursor ?? NEWEST_FILL
  const rows = await sql.all<FillRow>(
    `select body, block_number, log_index from fills
     where chain = $1 and pair_index = $2 and (block_number, log_index) < ($3, $4)
     order by block_number desc, log_index desc limit $5`,
    of.chain,
    of.pairIndex,
    blockNumber,
    logIndex,
    of.limit,
  )
  return rows.map((row) => ({ fill: JSON.parse(row.body) as StoredFill, cursor: cursorOf(row) }))
}

/** A cursor that lies after every fill. */
const NEWEST_FILL: FillCursor = { blockNumber: Number.MAX_SAFE_INTEGER, logIndex: 0 }

interface FillRow {
  readonly body: string
  readonly block_number: bigint
  readonly log_index: bigint
}

/** A fill with the order that has an event at its place. */
export interface OrderFillRow extends FillRow {
  readonly order_id: bigint | null
  readonly client_id: string | null
}

/** Returns the entry of a row. One from before entries had amounts names no order either. */
export function entryOf({ body, order_id, client_id }: OrderFillRow): FillHistoryEntry {
  const fill = JSON.parse(body) as StoredFill
  if (fill.netPnl === null || order_id === null) return { ...fill, orderId: null, clientId: null }
  const orderId = String(order_id)
  // The order may have been found to be another one since the entry was written.
  const positionId = fill.action === OPEN_REFUSED ? orderId : fill.positionId
  return { ...fill, positionId, orderId, clientId: client_id }
}

const OPEN_REFUSED: FillAction = 'TradeOpenRefused'

function cursorOf({ block_number, log_index }: FillRow): FillCursor {
  return { blockNumber: Number(block_number), logIndex: Number(log_index) }
}

export async function deleteFills(sql: Sql, chain: ChainSlug, blockHash: Hex): Promise<void> {
  sql.write('delete from fills where chain = $1 and block_hash = $2', chain, blockHash)
}
