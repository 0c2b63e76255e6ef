/** The greatest number of candles in one answer, and in one page of the upstream's history. */
export const MAX_CANDLES = 5_000

/** The number of candles in an answer when the request names no start. */
export const DEFAULT_CANDLES = 500

/** The number of candles that the store keeps of each series. Older ones are read from the upstream again. */
export const KEPT_CANDLES = MAX_CANDLES

/**
 * The number of candles in one row of the store. Small, because the last row of a series is rewritten whenever a candle
 * ends.
 */
export const CHUNK_CANDLES = 60

/** The number of rows of the store that stay in memory, up to 5 KB each. */
export const MAX_CACHED_CHUNKS = 2_000

/** Total size of the finished answers in memory. */
export const MAX_CACHED_ANSWER_BYTES = 8_000_000

/** The greatest number of pairs that candles are made of. Further pairs that the feed names are ignored. */
export const MAX_PAIRS = 2_000

/**
 * The furthest that the feed's time of a tick may be ahead of the local clock, and behind it. Beyond that the feed's
 * time is not used.
 */
export const MAX_AHEAD_MS = 2_000
export const MAX_BEHIND_MS = 600_000

/**
 * The greatest step back of the local clock that is waited out. After a larger one everything that was timed by it is
 * discarded.
 */
export const MAX_CLOCK_STEP_MS = 60_000

/**
 * The longest silence of the feed, which sends heartbeats every second. After a longer one ticks were missed, even if
 * the connection stayed open.
 */
export const MAX_QUIET_MS = 3_000

/**
 * Pause between two writes of the running candles. A crash loses at most this much where the upstream has no history to
 * fill it from.
 */
export const FLUSH_MS = 5_000

/**
 * The time for which ended candles are kept in memory while another node writes them: if it ends, this node has all
 * that was not written.
 */
export const UNWRITTEN_MS = 600_000

/** The number of rows per transaction of a flush, so that none blocks the process for more than a few milliseconds. */
export const FLUSH_ROWS = 50

/** The number of concurrent requests for the upstream's history, and the number that may wait behind them. */
export const MAX_REQUESTS = 4
export const MAX_WAITING_REQUESTS = 100

/**
 * The number of repair requests per minute for one series. Two interruptions a minute need four: each is read at once,
 * and again when the candle has ended. More are only caused by ticks that keep coming late, and those wait.
 */
export const MAX_REPAIRS_PER_MINUTE = 4

/** Pause between two looks for a series to repair. Requests are further apart, by the setting. */
export const REPAIR_ROUND_MS = 100

/** The number of repairs that readers may wait for, one behind the other. */
export const MAX_WAITING_REPAIRS = 4

/** The time for which a requested series is repaired before the others. */
export const ASKED_MS = 600_000

/**
 * The number of old ranges of one series that are read at the same time. Clients choose these ranges freely, and other
 * series need requests too.
 */
export const MAX_READINGS = 8

/**
 * The time for which the upstream's answer that it has nothing older is trusted, and the number of such ranges
 * remembered per series.
 */
export const NOTHING_OLDER_MS = 600_000
export const MAX_NOTHINGS = 16
