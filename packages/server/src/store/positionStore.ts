import type { Address, ChainSlug, Hex, OrderId } from '@bezel/protocol'
import type { EventPlace } from '../trading/positions/foldPosition.ts'
import type { PositionEvent, PositionRecord, PositionState } from '../trading/positions/positionModel.ts'
import { fromExactJson, toExactJson, type Sql, type SqlValue } from './sql.ts'

/** A position as stored: its fixed part and its last computed state. */
export interface StoredPosition {
  readonly record: PositionRecord
  /** Last computed state; `undefined` when the position was opened in a block since undone. */
  readonly state: PositionState | undefined
}

interface PositionRow {
  readonly id: bigint
  readonly chain: string
  readonly trader: string
  readonly origin_order_id: bigint
  readonly state: string | null
}

const COLUMNS = 'id, chain, trader, origin_order_id, state'

/** Inserts a position without a state, which the fold writes. */
export async function insertPosition(sql: Sql, record: PositionRecord): Promise<void> {
  await sql.run(
    'insert into positions (id, chain, trader, origin_order_id, is_open) values ($1, $2, $3, $4, 0)',
    BigInt(record.id),
    record.chain,
    record.trader,
    BigInt(record.originOrderId),
  )
}

/** Returns true when the trader has, or had, a position on the chain. */
export async function hasHadPosition(sql: Sql, chain: ChainSlug, trader: Address): Promise<boolean> {
  return (
    (await sql.get('select 1 from positions where chain = $1 and trader = $2 limit 1', chain, trader)) !== undefined
  )
}

/** Moves the position of one order, if it has one, to another order. */
export async function movePosition(sql: Sql, from: OrderId, to: OrderId): Promise<void> {
  await sql.run('update positions set origin_order_id = $2 where origin_order_id = $1', BigInt(from), BigInt(to))
}

export async function savePositionState(sql: Sql, id: OrderId, state: PositionState | undefined): Promise<void> {
  const update = state?.pendingUpdate
  await sql.run(
    `update positions set trade_index = $2, is_open = $3, state = $4, update_status = $5, update_due_block = $6,
       update_index = $7, update_attempt = $8
     where id = $1`,
    BigInt(id),
    state?.trade.index ?? null,
    state?.isOpen === true ? 1n : 0n,
    state === undefined ? null : toExactJson(state),
    update?.status ?? null,
    update?.timesOutAtBlock ?? null,
    update?.pendingIndex ?? null,
    update?.attemptId ?? null,
  )
}

export async function findPosition(sql: Sql, id: OrderId): Promise<StoredPosition | undefined> {
  return (await select(sql, 'id = $1', BigInt(id)))[0]
}

export async function findPositionByOrigin(sql: Sql, originOrderId: OrderId): Promise<StoredPosition | undefined> {
  return (await select(sql, 'origin_order_id = $1', BigInt(originOrderId)))[0]
}

/**
 * Finds a position, open or closed, by its trade index. A trader's trade index is given once, so at most one position
 * has it.
 */
export async function findPositionByTrade(
  sql: Sql,
  chain: ChainSlug,
  trader: Address,
  tradeIndex: number,
): Promise<StoredPosition | undefined> {
  return (await select(sql, 'chain = $1 and trader = $2 and trade_index = $3', chain, trader, tradeIndex))[0]
}

export async function listOpenPositions(sql: Sql, chain: ChainSlug): Promise<StoredPosition[]> {
  return select(sql, 'chain = $1 and is_open = 1 order by id', chain)
}

/** Lists the positions that were opened in blocks since undone, and not opened again. */
export async function listVanishedPositions(sql: Sql, chain: ChainSlug): Promise<StoredPosition[]> {
  return select(sql, 'chain = $1 and state is null order by id', chain)
}

/** Lists the open positions of a trader. */
export async function listOpenPositionsOf(sql: Sql, chain: ChainSlug, trader: Address): Promise<StoredPosition[]> {
  return select(sql, 'chain = $1 and trader = $2 and is_open = 1 order by id', chain, trader)
}

/** Lists the indices of the pending changes of a trader's positions, open or closed. */
export async function listUpdateIndices(sql: Sql, chain: ChainSlug, trader: Address): Promise<number[]> {
  const rows = await sql.all<{ update_index: bigint }>(
    'select update_index from positions where chain = $1 and trader = $2 and update_index is not null',
    chain,
    trader,
  )
  return rows.map(({ update_index }) => Number(update_index))
}

/** Lists the positions, open or closed, whose pending change has timed out at this block but is not marked so. */
export async function listDueUpdates(
  sql: Sql,
  chain: ChainSlug,
  of: { readonly headBlock: number; readonly limit: number },
): Promise<OrderId[]> {
  const rows = await sql.all<{ id: bigint }>(
    `select id from positions where chain = $1 and update_due_block <= $2 and update_status = 'pending' limit $3`,
    chain,
    of.headBlock,
    of.limit,
  )
  return rows.map(({ id }) => String(id) as OrderId)
}

/** Lists the positions whose pending change is marked as timed out although its block is after `headBlock`. */
export async function listEarlyUpdates(sql: Sql, chain: ChainSlug, headBlock: number): Promise<OrderId[]> {
  const rows = await sql.all<{ id: bigint }>(
    `select id from positions where chain = $1 and update_due_block > $2 and update_status = 'timed_out'`,
    chain,
    headBlock,
  )
  return rows.map(({ id }) => String(id) as OrderId)
}

/** The name of a pending change on the chain: its pending-order index, counted per trader. */
export type UpdateHandle = `pending:${Address}:${number}`

export async function insertPositionEvent(
  sql: Sql,
  of: {
    readonly chain: ChainSlug
    readonly positionId: OrderId
    readonly event: PositionEvent
    /** Handle of the change that the event begins; absent for every other event. */
    readonly handle?: UpdateHandle | undefined
  },
): Promise<void> {
  await sql.run(
    `insert into position_events (chain, block_hash, log_index, block_number, position_id, handle, body)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    of.chain,
    of.event.blockHash,
    of.event.logIndex,
    of.event.blockNumber,
    BigInt(of.positionId),
    of.handle ?? null,
    toExactJson(of.event),
  )
}

/** Finds the position whose change has this handle. */
export async function findPositionIdByHandle(
  sql: Sql,
  chain: ChainSlug,
  handle: UpdateHandle,
): Promise<OrderId | undefined> {
  const row = await sql.get<{ position_id: bigint }>(
    'select position_id from position_events where chain = $1 and handle = $2',
    chain,
    handle,
  )
  return row === undefined ? undefined : (String(row.position_id) as OrderId)
}

/** Lists the events of a position in chain order. */
export async function listPositionEvents(sql: Sql, positionId: OrderId): Promise<PositionEvent[]> {
  const rows = await sql.all<{ body: string }>(
    'select body from position_events where position_id = $1 order by block_number, log_index',
    BigInt(positionId),
  )
  return rows.map(({ body }) => fromExactJson<PositionEvent>(body))
}

/** Reads the place of a position's last event; `undefined` when it has none. */
export async function readLastPositionPlace(sql: Sql, positionId: OrderId): Promise<EventPlace | undefined> {
  const row = await sql.get<{ block_number: bigint; log_index: bigint }>(
    `select block_number, log_index from position_events where position_id = $1
     order by block_number desc, log_index desc limit 1`,
    BigInt(positionId),
  )
  return row && { blockNumber: Number(row.block_number), logIndex: Number(row.log_index) }
}

/** Deletes the position events of a block. Returns the positions to be folded again. */
export async function deletePositionEvents(sql: Sql, chain: ChainSlug, blockHash: Hex): Promise<OrderId[]> {
  const rows = await sql.all<{ position_id: bigint }>(
    'delete from position_events where chain = $1 and block_hash = $2 returning position_id',
    chain,
    blockHash,
  )
  return [...new Set(rows.map(({ position_id }) => String(position_id) as OrderId))]
}

async function select(sql: Sql, where: string, ...params: readonly SqlValue[]): Promise<StoredPosition[]> {
  return (await sql.all<PositionRow>(`select ${COLUMNS} from positions where ${where}`, ...params)).map((row) => ({
    record: {
      id: String(row.id) as OrderId,
      chain: row.chain as ChainSlug,
      trader: row.trader as Address,
      originOrderId: String(row.origin_order_id) as OrderId,
    },
    state: row.state === null ? undefined : fromExactJson<PositionState>(row.state),
  }))
}
