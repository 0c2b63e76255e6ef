/** By chain and signer, for all clients of this process: two of them must never use one nonce twice. */
const lastNonces = new Map<string, bigint>()

/** A nonce behind a millisecond, so that a thousand signatures of one millisecond still count with the clock. */
const NONCES_PER_MS = 1_000n

/** Strictly increasing per chain and signer, and never behind the clock: a restarted process goes on where the clock is. */
export function nextNonce(chainId: number, signer: string, nowMs: number): bigint {
  const key = `${chainId}:${signer.toLowerCase()}`
  const byClock = BigInt(nowMs) * NONCES_PER_MS
  const last = lastNonces.get(key)
  const nonce = last === undefined || last < byClock ? byClock : last + 1n
  lastNonces.set(key, nonce)
  return nonce
}
