import type { Address, ChainSlug, LogChannel } from '@bezel/protocol'
import { takeIds } from './ids.ts'
import { insertInto, RANK } from './rows.ts'
import type { RowStatement, Sql, SqlValue } from './sql.ts'

/** An event of an account, as stored. */
export interface LoggedEvent {
  readonly seq: number
  readonly channel: LogChannel
  readonly timestampMs: number
  readonly block: number | null
  readonly isReverted: boolean
  /** JSON text. Its bytes are the same live, replayed and over REST, so it is never parsed and serialised again. */
  readonly data: string
}

/** An event that has no sequence number yet. */
export type NewEvent = Omit<LoggedEvent, 'seq'>

/** The owner of a log: a trader on one chain. */
interface LogOwner {
  readonly chain: ChainSlug
  readonly trader: Address
}

interface EventRow {
  readonly seq: bigint
  readonly channel: string
  readonly timestamp: bigint
  readonly block_number: bigint | null
  readonly is_reverted: bigint
  readonly data: string
}

const COLUMNS = ['log_id', 'seq', 'channel', 'timestamp', 'block_number', 'is_reverted', 'data']

const INSERT_EVENT = insertInto('account_events', COLUMNS)

/** Reserves `last_seq` numbers in a log of PostgreSQL, which it creates at its first use. */
const RESERVE_SEQS: RowStatement = {
  text: `insert into account_logs (id, chain, trader, last_seq)
    values (nextval('account_log_ids'), $1, $2, $3)
    on conflict (chain, trader) do update set last_seq = account_logs.last_seq + excluded.last_seq`,
  bulk: `insert into account_logs (id, chain, trader, last_seq)
    select nextval('account_log_ids'), chain, trader, last_seq from json_populate_recordset(null::account_logs, $1::json)
    on conflict (chain, trader) do update set last_seq = account_logs.last_seq + excluded.last_seq`,
  columns: ['chain', 'trader', 'last_seq'],
  keyColumns: 2,
  rank: RANK.parents,
}

/** Appends an event in PostgreSQL under the reserved number that is `back` before the last. */
const APPEND_EVENT: RowStatement = {
  text: `insert into account_events (${COLUMNS.join(', ')})
    select id, last_seq - cast($3 as bigint), $4, cast($5 as bigint), cast($6 as bigint), cast($7 as bigint), $8
    from account_logs where chain = $1 and trader = $2`,
  bulk: `insert into account_events (${COLUMNS.join(', ')})
    select id, last_seq - back, channel, timestamp, block_number, is_reverted, data
    from json_to_recordset($1::json) as event (chain text, trader text, back bigint, channel text, timestamp bigint,
      block_number bigint, is_reverted bigint, data text)
    join account_logs on account_logs.chain = event.chain and account_logs.trader = event.trader`,
  columns: ['chain', 'trader', 'back', ...COLUMNS.slice(2)],
  keyColumns: 0,
  rank: RANK.rows,
}

/** Appends events under the next sequence numbers of the log. */
export async function appendEvents(sql: Sql, owner: LogOwner, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return
  const { chain, trader } = owner
  if (sql.engine === 'postgres') {
    // Without an answer, which would be a round trip for each log.
    sql.write(RESERVE_SEQS, chain, trader, events.length)
    for (const [at, event] of events.entries()) {
      sql.write(APPEND_EVENT, chain, trader, events.length - 1 - at, ...paramsOf(event))
    }
    return
  }
  const { id, lastSeq } = await takeSeqs(sql, owner, events.length)
  const first = lastSeq - BigInt(events.length) + 1n
  for (const [at, event] of events.entries()) sql.write(INSERT_EVENT, id, first + BigInt(at), ...paramsOf(event))
}

function paramsOf({ channel, timestampMs, block, isReverted, data }: NewEvent): SqlValue[] {
  return [channel, timestampMs, block, isReverted ? 1 : 0, data]
}

/**
 * Reserves `count` sequence numbers. Returns the log's id and the last reserved number. Creates the log at its first
 * use.
 */
async function takeSeqs(
  sql: Sql,
  { chain, trader }: LogOwner,
  count: number,
): Promise<{ readonly id: bigint; readonly lastSeq: bigint }> {
  const row =
    (await sql.get<{ id: bigint; last_seq: bigint }>(
      'update account_logs set last_seq = last_seq + $3 where chain = $1 and trader = $2 returning id, last_seq',
      chain,
      trader,
      count,
    )) ??
    (await sql.get<{ id: bigint; last_seq: bigint }>(
      `insert into account_logs (id, chain, trader, last_seq)
       values ($1, $2, $3, $4) returning id, last_seq`,
      (await takeIds(sql, 'accountLogs', 1))[0]!,
      chain,
      trader,
      count,
    ))
  return { id: row!.id, lastSeq: row!.last_seq }
}

/** Reads the number of the last event; 0 when there is none. */
export async function readLastSeq(sql: Sql, { chain, trader }: LogOwner): Promise<number> {
  const row = await sql.get<{ last_seq: bigint }>(
    'select last_seq from account_logs where chain = $1 and trader = $2',
    chain,
    trader,
  )
  return Number(row?.last_seq ?? 0n)
}

/** The numbers of the events of a log that are kept. */
export interface KeptSeqs {
  /** The oldest kept event; one after the last when none is kept. */
  readonly first: number
  /** The last event; 0 when there was none. */
  readonly last: number
}

/** Reads which events of a log are kept, in one statement: events may come and be forgotten between two. */
export async function readKeptSeqs(sql: Sql, { chain, trader }: LogOwner): Promise<KeptSeqs> {
  const row = await sql.get<{ first_seq: bigint | null; last_seq: bigint }>(
    `select l.last_seq, (select min(e.seq) from account_events e where e.log_id = l.id) as first_seq
     from account_logs l where l.chain = $1 and l.trader = $2`,
    chain,
    trader,
  )
  const last = Number(row?.last_seq ?? 0n)
  return { first: Number(row?.first_seq ?? last + 1), last }
}

/** Lists up to `limit` events after number `after`, oldest first. */
export async function listEvents(
  sql: Sql,
  { chain, trader }: LogOwner,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<LoggedEvent[]> {
  const rows = await sql.all<EventRow>(
    `select e.seq, e.channel, e.timestamp, e.block_number, e.is_reverted, e.data
     from account_logs l join account_events e on e.log_id = l.id
     where l.chain = $1 and l.trader = $2 and e.seq > $3 order by e.seq limit $4`,
    chain,
    trader,
    after,
    limit,
  )
  return rows.map((row) => ({
    seq: Number(row.seq),
    channel: row.channel as LogChannel,
    timestampMs: Number(row.timestamp),
    block: row.block_number === null ? null : Number(row.block_number),
    isReverted: row.is_reverted === 1n,
    data: row.data,
  }))
}

/** The holdings of the last account event. */
interface ToldHoldings {
  readonly holdings: string
  /** The last block that they may be of; `null` where nobody asked. */
  readonly block: number | null
}

/** Reads the holdings of the last account event, as text; `undefined` when none were recorded. */
export async function readToldHoldings(sql: Sql, { chain, trader }: LogOwner): Promise<ToldHoldings | undefined> {
  const row = await sql.get<{ holdings: string | null; holdings_block: bigint | null }>(
    'select holdings, holdings_block from account_logs where chain = $1 and trader = $2',
    chain,
    trader,
  )
  if (row === undefined || row.holdings === null) return undefined
  return { holdings: row.holdings, block: row.holdings_block === null ? null : Number(row.holdings_block) }
}

export async function setToldHoldings(sql: Sql, owner: LogOwner, { holdings, block }: ToldHoldings): Promise<void> {
  const { id } = await takeSeqs(sql, owner, 0)
  sql.write('update account_logs set holdings = $2, holdings_block = $3 where id = $1', id, holdings, block)
}

/**
 * Looks at up to `limit` logs with an id above `after`, by one index lookup each, so that no look takes long however
 * many logs there are. Returns those whose oldest event is older than `beforeMs`, and the last one that was looked at;
 * `undefined` when there was none.
 */
export async function listLogsBefore(
  sql: Sql,
  beforeMs: number,
  { after, limit }: { readonly after: bigint; readonly limit: number },
): Promise<{ readonly old: readonly bigint[]; readonly lastId: bigint | undefined }> {
  const rows = await sql.all<{ id: bigint; oldest: bigint | null }>(
    `select l.id, (select e.timestamp from account_events e where e.log_id = l.id order by e.seq limit 1) as oldest
     from account_logs l where l.id > $1 order by l.id limit $2`,
    after,
    limit,
  )
  const old = rows.filter(({ oldest }) => oldest !== null && Number(oldest) < beforeMs)
  return { old: old.map(({ id }) => id), lastId: rows.at(-1)?.id }
}

/**
 * Deletes up to `limit` of a log's oldest events that are older than `beforeMs`, so that the rest has no gap. Returns
 * their number.
 */
export async function forgetEventsBefore(sql: Sql, logId: bigint, beforeMs: number, limit: number): Promise<number> {
  const oldest = await sql.all<{ seq: bigint; timestamp: bigint }>(
    'select seq, timestamp from account_events where log_id = $1 order by seq limit $2',
    logId,
    limit,
  )
  const kept = oldest.findIndex(({ timestamp }) => Number(timestamp) >= beforeMs)
  const last = kept === -1 ? oldest.at(-1) : oldest[kept - 1]
  if (last === undefined) return 0
  return sql.run('delete from account_events where log_id = $1 and seq <= $2', logId, last.seq)
}
