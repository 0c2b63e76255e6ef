/** The part of `localStorage` and `sessionStorage` that is used. */
export interface KeyValueStore {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

const PREFIX = 'bezel.'

/** Returns the value kept under a key, or null: also for text that is no JSON, and where storage is not allowed. */
export function readStored(store: KeyValueStore, key: string): unknown {
  try {
    const text = store.getItem(PREFIX + key)
    return text === null ? null : (JSON.parse(text) as unknown)
  } catch {
    return null
  }
}

/**
 * Keeps a value under a key; null removes it. A full or forbidden storage is not an error: the page goes on without.
 */
export function writeStored(store: KeyValueStore, key: string, value: unknown): void {
  try {
    if (value === null) store.removeItem(PREFIX + key)
    else store.setItem(PREFIX + key, JSON.stringify(value))
  } catch {
    // A private window may forbid storage.
  }
}

/** Creates a store that lasts as long as the page. */
export function createMemoryStore(): KeyValueStore {
  const values = new Map<string, string>()
  return {
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => void values.set(key, value),
    removeItem: (key) => void values.delete(key),
  }
}

/** The storage of this tab, which survives a reload and ends with the tab. */
export const tabStore: KeyValueStore = storageOf('sessionStorage')

/** The storage of this browser, which all tabs share. */
export const browserStore: KeyValueStore = storageOf('localStorage')

function storageOf(name: 'sessionStorage' | 'localStorage'): KeyValueStore {
  try {
    const page = globalThis as { readonly document?: unknown } & { readonly [Name in typeof name]?: KeyValueStore }
    // Outside of a page there is no storage to share, and node warns about its own.
    return (page.document === undefined ? undefined : page[name]) ?? createMemoryStore()
  } catch {
    return createMemoryStore()
  }
}
