/** A map that holds entries up to a total weight; beyond it the least recently used entries are removed first. */
export interface Lru<Key, Value> {
  /** Returns a value and counts as a use. */
  get(key: Key): Value | undefined
  /** Reads an entry without using it. */
  peek(key: Key): Value | undefined
  /** Stores a value and counts as a use. The newest entry stays, however heavy it is. */
  set(key: Key, value: Value): void
  delete(key: Key): void
  clear(): void
  /** Returns the entries, least recently used first. Entries may be deleted during the iteration. */
  entries(): IterableIterator<[Key, Value]>
}

/** Creates an empty map. Each value weighs 1 unless `weightOf` says otherwise. */
export function createLru<Key, Value>(
  maxWeight: number,
  weightOf: (value: Value) => number = () => 1,
): Lru<Key, Value> {
  // A map iterates in the order of insertion, so the first entry is the least recently used one.
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
      values.delete(key)
      values.set(key, value)
      return value
    },
    peek: (key) => values.get(key),
    set(key, value) {
      remove(key)
      values.set(key, value)
      weight += weightOf(value)
      for (const oldest of values.keys()) {
        if (weight <= maxWeight || oldest === key) break
        remove(oldest)
      }
    },
    delete: remove,
    clear() {
      values.clear()
      weight = 0
    },
    entries: () => values.entries(),
  }
}
