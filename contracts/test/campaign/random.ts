/** A seeded source of choices: the same seed gives the same campaign. */
export type Random = {
  /** Returns a whole number from `min` to `max`, both included. */
  int(min: number, max: number): number
  /** Returns a whole number like `int`, spread evenly over orders of magnitude. */
  logInt(min: number, max: number): number
  chance(probability: number): boolean
  pick<T>(options: readonly T[]): T
  /** Returns one of the entries, with a probability proportional to its weight. */
  weighted<T extends { readonly weight: number }>(options: readonly T[]): T
}

/** Creates a mulberry32 generator: small, fast, and good enough to choose actions with. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const random: Random = {
    int: (min, max) => min + Math.floor(next() * (max - min + 1)),
    logInt: (min, max) => Math.min(max, Math.max(min, Math.round(min * (max / min) ** next()))),
    chance: (probability) => next() < probability,
    pick(options) {
      const picked = options[random.int(0, options.length - 1)]
      if (picked === undefined) throw new Error('nothing to pick from')
      return picked
    },
    weighted(options) {
      let left = next() * options.reduce((sum, { weight }) => sum + weight, 0)
      for (const option of options) {
        left -= option.weight
        if (left < 0) return option
      }
      return random.pick(options)
    },
  }
  return random
}
