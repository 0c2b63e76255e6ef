/** Random numbers that a seed replays. */
export interface Mulberry32 {
  /** Draws a whole number of at least 0 and below `bound`. */
  below(bound: number): number
  /** Draws a whole number of `count` bits. */
  bits(count: number): bigint
  pick<Item>(items: readonly Item[]): Item
  hex(bytes: number): string
}

/** Creates the generator mulberry32. Its 32 bits of state are plenty for tests. */
export function mulberry32(seed: number): Mulberry32 {
  let state = seed >>> 0
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const random: Mulberry32 = {
    below: (bound) => next() % bound,
    bits(count) {
      let value = 0n
      for (let have = 0; have < count; have += 32) value = (value << 32n) | BigInt(next())
      return value & ((1n << BigInt(count)) - 1n)
    },
    pick: (items) => items[random.below(items.length)]!,
    hex: (bytes) => Array.from({ length: bytes }, () => random.below(256).toString(16).padStart(2, '0')).join(''),
  }
  return random
}
