import { performance } from 'node:perf_hooks'
import { StartupError } from '@bezel/protocol'
import type { Sql } from './sql.ts'

/** Largest difference between the clocks of a node and of its database with which the node works. */
const MAX_CLOCK_OFF_MS = 1_000

/** The time of the database in epoch ms, as SQL: nodes whose clocks differ agree on it. SQLite has this machine's. */
const NOW_MS: Readonly<Record<Sql['engine'], string>> = {
  sqlite: `cast(unixepoch('subsec') * 1000 as integer)`,
  postgres: 'cast(extract(epoch from clock_timestamp()) * 1000 as bigint)',
}

/** Returns the time of the database in epoch ms, as SQL. */
export function databaseNow({ engine }: Pick<Sql, 'engine'>): string {
  return NOW_MS[engine]
}

/** A time that the database told, somewhere between the question and the answer. */
export interface TimeReading {
  /** Time of the database, epoch ms. */
  readonly databaseMs: number
  /** Time of the question by a clock that never steps, in ms. */
  readonly sentMs: number
  /** Time of the answer by the same clock. */
  readonly receivedMs: number
}

/** The clock of this machine beside that of the database. */
export interface ClockComparison {
  /** Takes over a time that the database told. */
  note(reading: TimeReading): void
  /**
   * Returns the time by which this machine's clock is ahead of the database's at least, negative when it is behind; 0
   * when the trip of the last reading explains all of it, and before the first reading.
   */
  aheadMs(): number
  /** Returns true while the clocks differ by more than a node may work with. */
  isWrong(): boolean
}

interface Clocks {
  /** Clock of this machine, epoch ms. Default that of the process. */
  readonly now?: (() => number) | undefined
  /** Clock that never steps, in ms. Default that of the process. */
  readonly monotonicMs?: (() => number) | undefined
}

const monotonicClock = (): number => performance.now()

/** Asks the database for its time. */
export async function readTime(sql: Sql, monotonicMs: () => number = monotonicClock): Promise<TimeReading> {
  const sentMs = monotonicMs()
  const row = await sql.get<{ ms: bigint }>(`select ${databaseNow(sql)} as ms`)
  return { databaseMs: Number(row!.ms), sentMs, receivedMs: monotonicMs() }
}

/**
 * Compares the clocks without asking anybody: since the last reading the clock that never steps has told the time of
 * the database, so a step of this machine's clock is seen by whoever asks next.
 */
export function compareClocks({ now = Date.now, monotonicMs = monotonicClock }: Clocks = {}): ClockComparison {
  let last: TimeReading | undefined
  function aheadMs(): number {
    if (last === undefined) return 0
    const [clockMs, tickMs] = [now(), monotonicMs()]
    const earliestMs = last.databaseMs + tickMs - last.receivedMs
    const latestMs = last.databaseMs + tickMs - last.sentMs
    if (clockMs > latestMs) return Math.round(clockMs - latestMs)
    return clockMs < earliestMs ? Math.round(clockMs - earliestMs) : 0
  }
  return {
    note: (reading) => void (last = reading),
    aheadMs,
    isWrong: () => Math.abs(aheadMs()) > MAX_CLOCK_OFF_MS,
  }
}

/** Reads the time by which this machine's clock is ahead of the database's at least, see `ClockComparison`. */
export async function readClockAhead(sql: Sql, now?: () => number): Promise<number> {
  const clocks = compareClocks({ now })
  clocks.note(await readTime(sql))
  return clocks.aheadMs()
}

/** Returns the sentence for a clock that is off by more than a node may work with; `undefined` when it is not. */
export function wrongClockText(aheadMs: number): string | undefined {
  const offMs = Math.abs(aheadMs)
  if (offMs <= MAX_CLOCK_OFF_MS) return undefined
  const off = `${(offMs / 1_000).toFixed(1)} s ${aheadMs > 0 ? 'ahead of' : 'behind'}`
  return `This machine's clock is ${off} that of PostgreSQL, and a node works with 1 s at most: set the wrong one, for instance by NTP, and start again.`
}

/** Throws a `StartupError` when this machine's clock is too far from the database's. */
export async function refuseWrongClock(sql: Sql): Promise<void> {
  const sentence = wrongClockText(await readClockAhead(sql))
  if (sentence !== undefined) throw new StartupError(sentence)
}
