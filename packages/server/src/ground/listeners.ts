/** Those who want to be told of something. */
export interface Listeners<Told> {
  /** Returns a function that ends it. */
  add(listener: (told: Told) => void): () => void
  tell(told: Told): void
}

export function createListeners<Told>(): Listeners<Told> {
  const listeners = new Set<(told: Told) => void>()
  return {
    add(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    tell(told) {
      for (const listener of listeners) listener(told)
    },
  }
}
