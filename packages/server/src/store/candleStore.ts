import type { Sql } from './sql.ts'

/** Key of a row, which holds several candles of one pair and width. */
interface CandleRow {
  readonly pairIndex: number
  readonly widthMs: number
  /** Begin of the first candle, in epoch ms. */
  readonly beginMs: number
}

/** Reads the rows of a series that begin in `[fromMs, toMs]`, oldest first. */
export async function readCandleRows(
  sql: Sql,
  of: { readonly pairIndex: number; readonly widthMs: number; readonly fromMs: number; readonly toMs: number },
): Promise<readonly { readonly beginMs: number; readonly body: string }[]> {
  const rows = await sql.all<{ begin_ms: bigint; body: string }>(
    `select begin_ms, body from candles
     where pair_index = $1 and width_ms = $2 and begin_ms >= $3 and begin_ms <= $4 order by begin_ms`,
    of.pairIndex,
    of.widthMs,
    of.fromMs,
    of.toMs,
  )
  return rows.map(({ begin_ms, body }) => ({ beginMs: Number(begin_ms), body }))
}

export async function writeCandleRow(
  sql: Sql,
  { pairIndex, widthMs, beginMs }: CandleRow,
  body: string,
): Promise<void> {
  await sql.run(
    `insert into candles (pair_index, width_ms, begin_ms, body) values ($1, $2, $3, $4)
     on conflict (pair_index, width_ms, begin_ms) do update set body = excluded.body`,
    pairIndex,
    widthMs,
    beginMs,
    body,
  )
}

/** Deletes the rows of a series that begin before `beginMs`. */
export async function deleteCandleRows(sql: Sql, of: CandleRow): Promise<void> {
  await sql.run(
    'delete from candles where pair_index = $1 and width_ms = $2 and begin_ms < $3',
    of.pairIndex,
    of.widthMs,
    of.beginMs,
  )
}

/** Reads the candles that were unfinished when last written; `undefined` before the first write. */
export async function readRunningCandles(sql: Sql): Promise<string | undefined> {
  return (await sql.get<{ body: string }>('select body from running_candles where id = 1'))?.body
}

export async function writeRunningCandles(sql: Sql, body: string): Promise<void> {
  await sql.run(
    'insert into running_candles (id, body) values (1, $1) on conflict (id) do update set body = excluded.body',
    body,
  )
}
