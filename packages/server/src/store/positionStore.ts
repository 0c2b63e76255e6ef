import type { Address, ChainSlug, Hex, OrderId } from '@bezel/protocol'
import type { EventPlace } from '../trading/positions/foldPosition.ts'
import type { PositionEvent, PositionRecord, PositionState } from '../trading/positions/positionModel.ts'
import { pointRead } from './pointReads.ts'
import { insertInto, RANK, updateByKey } from './rows.ts'
import { fromExactJson, toExactJson, type PointRead, type Sql, type SqlValue } from './sql.ts'

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
const SELECT = `select ${COLUMNS} from positions`
const BY_ID = pointRead(`${SELECT} where id = $1`, 'bigint')
const BY_ORIGIN = pointRead(`${SELECT} where origin_order_id = $1`, 'bigint')
const BY_TRADE = pointRead(`${SELECT} where chain = $1 and trader = $2 and trade_index = $3`, 'text', 'text', 'bigint')

const INSERT_POSITION = insertInto('positions', ['id', 'chain', 'trader', 'origin_order_id', 'is_open'], RANK.children)

/** Inserts a position without a state, which the fold writes. */
export async function insertPosition(sql: Sql, record: PositionRecord): Promise<void> {
  sql.write(INSERT_POSITION, BigInt(record.id), record.chain, record.trader, BigInt(record.originOrderId), 0)
}

/** Returns true when the trader has, or had, a position on the chain. */
export async function hasHadPosition(sql: Sql, chain: ChainSlug, trader: Address): Promise<boolean> {
  return (
    (await sql.get('select 1 from positions where chain = $1 and trader = $2 limit 1', chain, trader)) !== undefined
  )
}

/** Moves the position of one order, if it has one, to another order. */
export async function movePosition(sql: Sql, from: OrderId, to: OrderId): Promise<void> {
  sql.write('update positions set origin_order_id = $2 where origin_order_id = $1', BigInt(from), BigInt(to))
}

const SAVE_STATE = updateByKey('positions', 'id', [
  'trade_index',
  'is_open',
  'state',
  'update_status',
  'update_due_block',
  'update_index',
  'update_attempt',
])

export async function savePositionState(sql: Sql, id: OrderId, state: PositionState | undefined): Promise<void> {
  const update = state?.pendingUpdate
  sql.write(
    SAVE_STATE,
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
  return (await select(sql, BY_ID, BigInt(id)))[0]
}

export async function findPositionByOrigin(sql: Sql, originOrderId: OrderId): Promise<StoredPosition | undefined> {
  return (await select(sql, BY_ORIGIN, BigInt(originOrderId)))[0]
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
  return (await select(sql, BY_TRADE, chain, trader, tradeIndex))[0]
}

export async function listOpenPositions(sql: Sql, chain: ChainSlug): Promise<StoredPosition[]> {
  return select(sql, `${SELECT} where chain = $1 and is_open = 1 order by id`, chain)
}

/** An open position, its state as it is stored. */
export interface OpenPositionText {
  readonly record: PositionRecord
  /** Exact JSON of its state. */
  readonly stateText: string
}

/** Lists open positions in the order of their ids, those after one of them, and leaves their states as they are. */
export async function listOpenPositionTexts(
  sql: Sql,
  chain: ChainSlug,
  of: { readonly afterId: OrderId; readonly limit: number },
): Promise<OpenPositionText[]> {
  const rows = await sql.all<PositionRow>(
    `${SELECT} where chain = $1 and is_open = 1 and id > $2 order by id limit $3`,
    chain,
    BigInt(of.afterId),
    of.limit,
  )
  return rows.map((row) => ({ record: recordOf(row), stateText: row.state! }))
}

/** Lists the positions that were opened in blocks since undone, and not opened again. */
export async function listVanishedPositions(sql: Sql, chain: ChainSlug): Promise<StoredPosition[]> {
  return select(sql, `${SELECT} where chain = $1 and state is null order by id`, chain)
}

/**
 * Lists the open positions of a trader. The plus keeps SQLite from walking through those of all traders because they
 * are in this order already.
 */
export async function listOpenPositionsOf(sql: Sql, chain: ChainSlug, trader: Address): Promise<StoredPosition[]> {
  return select(sql, `${SELECT} where chain = $1 and trader = $2 and is_open = 1 order by +id`, chain, trader)
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

const INSERT_EVENT = insertInto('position_events', [
  'chain',
  'block_hash',
  'log_index',
  'block_number',
  'position_id',
  'handle',
  'body',
])

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
  sql.write(
    INSERT_EVENT,
    of.chain,
    of.event.blockHash,
    of.event.logIndex,
    of.event.blockNumber,
    BigInt(of.positionId),
    of.handle ?? null,
    toExactJson(of.event),
  )
}

const FIND_BY_HANDLE = pointRead(
  'select position_id from position_events where chain = $1 and handle = $2',
  'text',
  'text',
)

/** Finds the position whose change has this handle. */
export async function findPositionIdByHandle(
  sql: Sql,
  chain: ChainSlug,
  handle: UpdateHandle,
): Promise<OrderId | undefined> {
  const row = await sql.get<{ position_id: bigint }>(FIND_BY_HANDLE, chain, handle)
  return row === undefined ? undefined : (String(row.position_id) as OrderId)
}

const LIST_EVENTS = pointRead(
  'select body from position_events where position_id = $1 order by block_number, log_index',
  'bigint',
)

/** Lists the events of a position in chain order. */
export async function listPositionEvents(sql: Sql, positionId: OrderId): Promise<PositionEvent[]> {
  const rows = await sql.all<{ body: string }>(LIST_EVENTS, BigInt(positionId))
  return rows.map(({ body }) => fromExactJson<PositionEvent>(body))
}

const LAST_PLACE = pointRead(
  `select block_number, log_index from position_events where position_id = $1
   order by block_number desc, log_index desc limit 1`,
  'bigint',
)

/** Reads the place of a position's last event; `undefined` when it has none. */
export async function readLastPositionPlace(sql: Sql, positionId: OrderId): Promise<EventPlace | undefined> {
  const row = await sql.get<{ block_number: bigint; log_index: bigint }>(LAST_PLACE, BigInt(positionId))
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

async function select(sql: Sql, read: string | PointRead, ...params: readonly SqlValue[]): Promise<StoredPosition[]> {
  return (await sql.all<PositionRow>(read, ...params)).map((row) => ({
    record: recordOf(row),
    state: row.state === null ? undefined : fromExactJson<PositionState>(row.state),
  }))
}

function recordOf(row: PositionRow): PositionRecord {
  return {
    id: String(row.id) as OrderId,
    chain: row.chain as ChainSlug,
    trader: row.trader as Address,
    originOrderId: String(row.origin_order_id) as OrderId,
  }
}
