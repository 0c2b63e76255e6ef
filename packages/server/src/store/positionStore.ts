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

/** Moves the position of one order, if it has one, to another order. */
export async function movePosition(sql: Sql, from: OrderId, to: OrderId): Promise<void> {
  await sql.run('update positions set origin_order_id = $2 where origin_order_id = $1', BigInt(from), BigInt(to))
}

export async function savePositionState(sql: Sql, id: OrderId, state: PositionState | undefined): Promise<void> {
  await sql.run(
    'update positions set trade_index = $2, is_open = $3, state = $4 where id = $1',
    BigInt(id),
    state?.trade.index ?? null,
    state?.isOpen === true ? 1n : 0n,
    state === undefined ? null : toExactJson(state),
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

export async function insertPositionEvent(
  sql: Sql,
  of: { readonly chain: ChainSlug; readonly positionId: OrderId; readonly event: PositionEvent },
): Promise<void> {
  await sql.run(
    `insert into position_events (chain, block_hash, log_index, block_number, position_id, body)
     values ($1, $2, $3, $4, $5, $6)`,
    of.chain,
    of.event.blockHash,
    of.event.logIndex,
    of.event.blockNumber,
    BigInt(of.positionId),
    toExactJson(of.event),
  )
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
