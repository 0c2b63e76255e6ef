/** Pseudo-random choices that a seed reproduces. */
export interface SeededRandom {
  /** Returns a number from 0 up to but not including 1. */
  next(): number
  /** Returns true with probability `of`, from 0 to 1. */
  chance(of: number): boolean
  /** Returns a whole number from 0 up to but not including `count`. */
  below(count: number): number
  pick<Item>(items: readonly Item[]): Item
  /**
   * Returns an independent stream derived from the same seed, so that one actor never shifts the choices of another.
   */
  stream(name: string): SeededRandom
}

/** Creates a generator with 32 bits of state, enough for the choices of a test. */
export function createSeededRandom(seed: number): SeededRandom {
  let state = seed >>> 0
  const random: SeededRandom = {
    next() {
      state = (state + 0x9e3779b9) >>> 0
      let mixed = state
      mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad)
      mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
      return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
    },
    chance: (of) => random.next() < of,
    below: (count) => Math.floor(random.next() * count),
    pick: <Item>(items: readonly Item[]) => items[random.below(items.length)]!,
    stream: (name) => createSeededRandom([...name].reduce((mixed, c) => Math.imul(mixed, 31) + c.charCodeAt(0), seed)),
  }
  return random
}
