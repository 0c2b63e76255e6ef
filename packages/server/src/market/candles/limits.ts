/** Most candles of one answer, and of one page of the upstream's history. */
export const MAX_CANDLES = 5_000

/** How many candles an answer has when no beginning is asked for. */
export const DEFAULT_CANDLES = 500

/** Candles of a series that the store keeps. Older ones are asked of the upstream again. */
export const KEPT_CANDLES = MAX_CANDLES

/** Candles in one row of the store. Small, because the last row of a series is written anew with each candle that ends. */
export const CHUNK_CANDLES = 60

/** Rows of the store that stay in memory: up to 5 KB each. */
export const MAX_CACHED_CHUNKS = 2_000

/** Finished answers in memory, together. */
export const MAX_CACHED_ANSWER_BYTES = 8_000_000

/** Pairs that candles are made of. A feed that names more is not believed. */
export const MAX_PAIRS = 2_000

/** How far the feed's own time of a tick may be ahead of ours, and how far behind. Else it has no time that could be used. */
export const MAX_AHEAD_MS = 2_000
export const MAX_BEHIND_MS = 600_000

/** When our own clock is put back by more, nothing that was counted by it is of use. Less is waited for. */
export const MAX_CLOCK_STEP_MS = 60_000

/** Without a sign of the feed for longer, ticks were missed, also when the connection stayed. Heartbeats come every second. */
export const MAX_QUIET_MS = 3_000

/** Between two writes of the running candles: what a crash may lose where the upstream has no history to fill it from. */
export const FLUSH_MS = 5_000

/** Rows of one transaction of a flush, so that none holds the process up for more than a few milliseconds. */
export const FLUSH_ROWS = 50

/** Requests to the upstream's history under way at once, and those that may wait for a turn. */
export const MAX_REQUESTS = 4
export const MAX_WAITING_REQUESTS = 100

/**
 * Requests for what was missed of one series. Two interruptions a minute need as many: each is read at once, and again when the candle has
 * ended. More are made by late ticks that come all the time, and wait.
 */
export const MAX_REPAIRS_PER_MINUTE = 4

/** Between two requests for candles that nobody asked for lately. */
export const REPAIR_PAUSE_MS = 100

/** For how long a series that was asked for comes before the others. */
export const ASKED_MS = 600_000

/** Old ranges of one series that are read at once: all of them are made up by somebody, and others want to be read, too. */
export const MAX_READINGS = 8

/** For how long the upstream's word that it has nothing older is believed, and of how many ranges of one series. */
export const NOTHING_OLDER_MS = 600_000
export const MAX_NOTHINGS = 16
