/** `12:04:31`, UTC, of epoch milliseconds. */
export function shortTime(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19)
}

/** `2026-11-15 12:04`, UTC. */
export function dateAndTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace('T', ' ')
}
