/**
 * A 32-bit hash of four words (the MurmurHash3 round and finish). Integer operations only, so every machine computes the same walk.
 */
export function mix(seed: number, a: number, b: number, c: number): number {
  let hash = round(round(round(seed | 0, a), b), c)
  hash ^= hash >>> 16
  hash = Math.imul(hash, 0x85ebca6b)
  hash ^= hash >>> 13
  hash = Math.imul(hash, 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** An even pick of `0 .. bound - 1` out of a hash. Exact in a double for every bound up to 2^29, as only 24 bits of the hash are used. */
export function below(hash: number, bound: number): number {
  return Math.floor(((hash >>> 8) * bound) / 0x1000000)
}

function round(hash: number, word: number): number {
  const scrambled = Math.imul(rotateLeft(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593)
  return (Math.imul(rotateLeft(hash ^ scrambled, 13), 5) + 0xe6546b64) | 0
}

function rotateLeft(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits))
}
