/**
 * Reference-counted items: opened for the first holder and dropped after the last one, or some time later when another
 * holder may come soon.
 */
export interface RefCounted<Key, Item> {
  get(key: Key): Item | undefined
  items(): Iterable<Item>
  /** Opens the item for the first holder. Each `hold` must be released once. */
  hold(key: Key): Item
  release(key: Key): void
  /** Releases an item that is of no use to a later holder, so that it is not kept. */
  discard(key: Key): void
  /** Drops all kept items that nobody holds. */
  dropKept(): void
}

/** Limits on the items that are kept after their last holder left. */
export interface Keeping {
  readonly keptMs: number
  /** The number of kept items. Beyond it the item whose last holder left first is dropped. */
  readonly maxKept: number
}

export interface RefCountedOptions<Item> {
  /** Limits on keeping items without a holder. Without them an item is dropped as soon as its last holder leaves. */
  readonly keeping?: Keeping
  readonly onDrop?: (item: Item) => void
}

export function createRefCounted<Key, Item>(
  open: (key: Key) => Item,
  { keeping, onDrop = () => undefined }: RefCountedOptions<Item> = {},
): RefCounted<Key, Item> {
  const held = new Map<Key, { readonly item: Item; holders: number }>()
  /** Timers that drop the items nobody holds, in the order in which their last holders left. */
  const kept = new Map<Key, NodeJS.Timeout>()

  function take(key: Key): void {
    clearTimeout(kept.get(key))
    kept.delete(key)
  }

  function drop(key: Key): void {
    take(key)
    const { item } = held.get(key)!
    held.delete(key)
    onDrop(item)
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
