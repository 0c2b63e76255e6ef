/** By signer: structs of a trader carry no nonce, so each one's time must be newer than that of the one before. */
const lastTimestamps = new Map<string, number>()

/** Epoch milliseconds, strictly increasing per signer in this process. */
export function nextTimestamp(signer: string, nowMs: number): number {
  const key = signer.toLowerCase()
  const timestamp = Math.max(nowMs, (lastTimestamps.get(key) ?? 0) + 1)
  lastTimestamps.set(key, timestamp)
  return timestamp
}
