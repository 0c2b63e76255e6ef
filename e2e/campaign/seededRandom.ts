/** Chance that a seed repeats. */
export interface SeededRandom {
  /** From 0 up to but not including 1. */
  next(): number
  /** True so often of one. */
  chance(of: number): boolean
  /** A whole number from 0 up to but not including `count`. */
  below(count: number): number
  pick<Item>(items: readonly Item[]): Item
  /** Another stream that follows from the same seed, so that what one actor does never shifts the choices of another. */
  stream(name: string): SeededRandom
}

/** A small generator with 32 bits of state: choices of a test need no more. */
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
