import {
  decimalPlaces,
  formatDecimal,
  parseDecimal,
  scaleDecimal,
  type Candle,
  type CandleInterval,
} from '@bezel/protocol/wire'
import { computed, signal, type ReadonlySignal, type Signal } from '@preact/signals'

/** The changes of markets over 24 hours. */
export interface DayChanges {
  /** Returns the change of a market as a fraction (`0.0123` is 1.23 %); null until it is known. */
  changeOf(symbol: string): ReadonlySignal<string | null>
  /**
   * Reads the price of a day ago again of every market that was asked for: five minutes after it was read, and at once
   * after a read that failed.
   */
  renew(): void
  clear(): void
}

/** Candles that begin from `from` to `to`, both in epoch milliseconds. */
export interface CandleRange {
  readonly interval: CandleInterval
  readonly from: number
  readonly to: number
}

interface DayChangeOptions {
  /** Returns the mark of a market. Reads its signal. */
  readonly markOf: (symbol: string) => string | undefined
  readonly readCandles: (symbol: string, range: CandleRange) => Promise<readonly Candle[]>
  readonly now: () => number
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const FIVE_MINUTES_MS = 300_000

/** Time for which the price of a day ago is kept: one candle of the width that it is read from. */
const RENEW_MS = FIVE_MINUTES_MS

/** Longest closure that is looked past for the last price before it: a weekend with holidays at both ends. */
const LONGEST_CLOSURE_MS = 5 * DAY_MS

/** Reads at once. The list of markets asks for fifty changes together, and orders must not wait behind them. */
const PARALLEL = 3

/** Places of a rate: a hundredth of a percent needs four. */
const PLACES = 6

/** Creates the changes. The price of a day ago is read when a change is first asked for. */
export function createDayChanges({ markOf, readCandles, now }: DayChangeOptions): DayChanges {
  interface Day {
    readonly open: Signal<string | null>
    readonly change: ReadonlySignal<string | null>
    /** Time of the last read that succeeded; null when the next one is due. */
    readAtMs: number | null
    isQueued: boolean
  }
  const days = new Map<string, Day>()
  const queue: string[] = []
  let running = 0
  /** Grows when everything is forgotten, so that an answer about another chain is not taken. */
  let era = 0

  async function read(symbol: string, day: Day): Promise<void> {
    const [eraThen, atMs] = [era, now()]
    const open = await readPriceAt(symbol, atMs - DAY_MS, readCandles).catch(() => undefined)
    if (open === undefined || era !== eraThen) return
    day.open.value = open
    day.readAtMs = atMs
  }

  async function work(): Promise<void> {
    running += 1
    for (let symbol = queue.shift(); symbol !== undefined; symbol = queue.shift()) {
      const day = days.get(symbol)
      if (day === undefined) continue
      day.isQueued = false
      await read(symbol, day)
    }
    running -= 1
  }

  function enqueue(symbol: string, day: Day): void {
    if (day.isQueued) return
    day.isQueued = true
    queue.push(symbol)
    // A component may ask while it is drawn, so the read begins after that.
    if (running < PARALLEL) queueMicrotask(() => void (running < PARALLEL && work()))
  }

  return {
    changeOf(symbol) {
      const known = days.get(symbol)
      if (known !== undefined) return known.change
      const open = signal<string | null>(null)
      const change = computed(() => {
        const mark = markOf(symbol)
        return mark === undefined || open.value === null ? null : rateOf(open.value, mark)
      })
      const day = { open, change, readAtMs: null, isQueued: false }
      days.set(symbol, day)
      enqueue(symbol, day)
      return change
    },
    renew() {
      const dueMs = now() - RENEW_MS
      for (const [symbol, day] of days) if (day.readAtMs === null || day.readAtMs <= dueMs) enqueue(symbol, day)
    },
    clear() {
      era += 1
      for (const [symbol, day] of days) {
        day.open.value = null
        day.readAtMs = null
        enqueue(symbol, day)
      }
    },
  }
}

/**
 * Reads the price at a moment of the past; null when there is none. It asks for one candle that has ended, since the
 * service first repairs the running candle of a market when that is asked for too, which takes a second for each. A
 * market that was closed then has its last price before, and one that is younger its first.
 */
async function readPriceAt(
  symbol: string,
  atMs: number,
  readCandles: DayChangeOptions['readCandles'],
): Promise<string | null> {
  const from = Math.floor(atMs / FIVE_MINUTES_MS) * FIVE_MINUTES_MS
  const [then] = await readCandles(symbol, { interval: '5m', from, to: from })
  if (then !== undefined) return then.open
  const before = await readCandles(symbol, { interval: '1h', from: atMs - LONGEST_CLOSURE_MS, to: atMs - HOUR_MS })
  const last = before.at(-1)
  if (last !== undefined) return last.close
  const [first] = await readCandles(symbol, { interval: '1h', from: atMs - HOUR_MS, to: atMs + DAY_MS })
  return first?.open ?? null
}

/** Returns `to / from - 1`, rounded down to six places; null when one of them is no price. */
export function rateOf(from: string, to: string): string | null {
  const [first, last] = [parseDecimal(from), parseDecimal(to)]
  if (first === undefined || last === undefined) return null
  const places = Math.max(decimalPlaces(first), decimalPlaces(last))
  const [base, value] = [scaleDecimal(first, places), scaleDecimal(last, places)]
  if (base === undefined || value === undefined || base === 0n) return null
  return formatDecimal(((value - base) * 10n ** BigInt(PLACES)) / base, PLACES)
}
