/** What was used last, up to a weight; the least recently used goes first. */
export interface Recent<Key, Value> {
  get(key: Key): Value | undefined
  set(key: Key, value: Value): void
}

/** Each value weighs one unless `weightOf` says more. */
export function createRecent<Key, Value>(
  maxWeight: number,
  weightOf: (value: Value) => number = () => 1,
): Recent<Key, Value> {
  const values = new Map<Key, Value>()
  let weight = 0

  function remove(key: Key): void {
    const value = values.get(key)
    if (value === undefined) return
    values.delete(key)
    weight -= weightOf(value)
  }

  return {
    get(key) {
      const value = values.get(key)
      if (value === undefined) return undefined
      // The order of a map is that of insertion.
      values.delete(key)
      values.set(key, value)
      return value
    },
    set(key, value) {
      remove(key)
      values.set(key, value)
      weight += weightOf(value)
      for (const oldest of values.keys()) {
        if (weight <= maxWeight || oldest === key) break
        remove(oldest)
      }
    },
  }
}
