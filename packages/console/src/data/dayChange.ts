import { decimalPlaces, formatDecimal, parseDecimal, scaleDecimal, type Candle } from '@bezel/protocol/wire'
import { computed, signal, type ReadonlySignal, type Signal } from '@preact/signals'

/** The changes of markets over 24 hours. */
export interface DayChanges {
  /** Returns the change of a market as a fraction (`0.0123` is 1.23 %); null until it is known. */
  changeOf(symbol: string): ReadonlySignal<string | null>
  /** Reads the prices of a day ago of all markets that were asked for again, at most once every five minutes. */
  renew(): void
  clear(): void
}

interface DayChangeOptions {
  /** Returns the mark of a market. Reads its signal. */
  readonly markOf: (symbol: string) => string | undefined
  readonly readCandles: (symbol: string, fromMs: number) => Promise<readonly Candle[]>
  readonly now: () => number
}

const DAY_MS = 86_400_000
const RENEW_MS = 300_000

/** Reads at once. The list of markets asks for fifty changes together, and orders must not wait behind them. */
const PARALLEL = 3

/** Places of a rate: a hundredth of a percent needs four. */
const PLACES = 6

/** Creates the changes. The price of a day ago is read when a change is first asked for. */
export function createDayChanges({ markOf, readCandles, now }: DayChangeOptions): DayChanges {
  interface Day {
    readonly open: Signal<string | null>
    readonly change: ReadonlySignal<string | null>
    readAtMs: number
  }
  const days = new Map<string, Day>()
  const queue: string[] = []
  let running = 0

  async function work(): Promise<void> {
    running += 1
    for (let symbol = queue.shift(); symbol !== undefined; symbol = queue.shift()) {
      const day = days.get(symbol)
      const candles = await readCandles(symbol, now() - DAY_MS).catch(() => [])
      if (day !== undefined && candles[0] !== undefined) day.open.value = candles[0].open
    }
    running -= 1
  }

  function enqueue(symbol: string, day: Day): void {
    day.readAtMs = now()
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
      const day = { open, change, readAtMs: 0 }
      days.set(symbol, day)
      enqueue(symbol, day)
      return change
    },
    renew() {
      for (const [symbol, day] of days) if (now() - day.readAtMs >= RENEW_MS) enqueue(symbol, day)
    },
    clear() {
      for (const [symbol, day] of days) {
        day.open.value = null
        enqueue(symbol, day)
      }
    },
  }
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
