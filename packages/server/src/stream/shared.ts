/** Things that several want at once: opened for the first, dropped after the last. */
export interface Shared<Key, Item> {
  get(key: Key): Item | undefined
  items(): Iterable<Item>
  /** Each `hold` is to be released once. */
  hold(key: Key): Item
  release(key: Key): void
}

export function createShared<Key, Item>(open: (key: Key) => Item): Shared<Key, Item> {
  const held = new Map<Key, { readonly item: Item; holders: number }>()

  return {
    get: (key) => held.get(key)?.item,
    items: () => held.values().map(({ item }) => item),
    hold(key) {
      const known = held.get(key) ?? { item: open(key), holders: 0 }
      known.holders += 1
      held.set(key, known)
      return known.item
    },
    release(key) {
      const known = held.get(key)!
      known.holders -= 1
      if (known.holders === 0) held.delete(key)
    },
  }
}
