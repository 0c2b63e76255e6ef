/** How often a price is published. */
export const TICK_MS = 250

export const MINUTE_MS = 60_000

export const TICKS_PER_MINUTE = MINUTE_MS / TICK_MS

/** One width of span in the walk's tree. */
export interface Level {
  readonly minutes: number
  readonly ticks: number
  /** How many spans of this level make one of the level above; 1 for the top. */
  readonly parts: number
}

const level = (minutes: number, parts: number): Level => ({ minutes, ticks: minutes * TICKS_PER_MINUTE, parts })

/**
 * The tree: a day is cut into 4-hour spans, those into hours, and so on down to minutes. They are the widths of candles, so that a
 * candle is one span (30 minutes are two). Every cut is into three or more, which `splitSpan` needs.
 */
export const LEVELS: readonly Level[] = [
  level(1440, 1),
  level(240, 6),
  level(60, 4),
  level(15, 4),
  level(5, 3),
  level(1, 5),
]

export const DAY_LEVEL = 0

export const MINUTE_LEVEL = LEVELS.length - 1
