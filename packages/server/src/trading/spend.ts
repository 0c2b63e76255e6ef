const DAY_MS = 86_400_000

/** Whole days since the epoch, UTC. */
export function utcDayOf(timestampMs: number): number {
  return Math.floor(timestampMs / DAY_MS)
}
