/** Things that several want at once: opened for the first, dropped after the last, or a while later when the next one may come soon. */
export interface Shared<Key, Item> {
  get(key: Key): Item | undefined
  items(): Iterable<Item>
  /** Each `hold` is to be released once. */
  hold(key: Key): Item
  release(key: Key): void
  /** As `release`, of something that is of no use to the next one. */
  discard(key: Key): void
  /** Drops all that nobody holds. */
  dropKept(): void
}

/** What is kept after the last one left. */
export interface Keeping {
  readonly keptMs: number
  /** Beyond it the one that was left first goes. */
  readonly maxKept: number
}

export function createShared<Key, Item>(open: (key: Key) => Item, keeping?: Keeping): Shared<Key, Item> {
  const held = new Map<Key, { readonly item: Item; holders: number }>()
  /** Those that nobody holds, in the order in which they were left, and what will drop them. */
  const kept = new Map<Key, NodeJS.Timeout>()

  function take(key: Key): void {
    clearTimeout(kept.get(key))
    kept.delete(key)
  }

  function drop(key: Key): void {
    take(key)
    held.delete(key)
  }

  function keep(key: Key, { keptMs, maxKept }: Keeping): void {
    kept.set(key, setTimeout(drop, keptMs, key).unref())
    const [oldest] = kept.keys()
    if (kept.size > maxKept) drop(oldest!)
  }

  function leave(key: Key, ofKeeping: Keeping | undefined): void {
    const known = held.get(key)!
    known.holders -= 1
    if (known.holders > 0) return
    if (ofKeeping === undefined) drop(key)
    else keep(key, ofKeeping)
  }

  return {
    get: (key) => held.get(key)?.item,
    items: () => held.values().map(({ item }) => item),
    hold(key) {
      const known = held.get(key) ?? { item: open(key), holders: 0 }
      known.holders += 1
      held.set(key, known)
      take(key)
      return known.item
    },
    release: (key) => leave(key, keeping),
    discard: (key) => leave(key, undefined),
    dropKept() {
      for (const key of kept.keys()) drop(key)
    },
  }
}
