/** Pseudo-random numbers from a seed, so that a fuzz can be repeated. */
export interface Random {
  /** Returns a number, 0 <= n < 1. */
  next(): number
  /** Returns a whole number, 0 <= n < end. */
  below(end: number): number
  chance(probability: number): boolean
  pick<Item>(items: readonly Item[]): Item
  /** Returns `bytes` random bytes in hex, without prefix. */
  hex(bytes: number): string
}

/** Creates a generator. Each request draws from its own `stream`, independently of the others. */
export function createRandom(seed: number, stream = 0): Random {
  let state = (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(stream + 1, 0xc2b2ae35)) | 0
  function next(): number {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number): number => Math.floor(next() * end)
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (items) => {
      if (items.length === 0) throw new Error('there is nothing to pick from')
      return items[below(items.length)]!
    },
    hex: (bytes) => Array.from({ length: bytes * 2 }, () => below(16).toString(16)).join(''),
  }
}
