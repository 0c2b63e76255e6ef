/** Removes the listener it was given for. */
export type Unsubscribe = () => void

/** A list of listeners, told in the order they came. */
export interface Listeners<T> {
  add(listener: (value: T) => void): Unsubscribe
  tell(value: T): void
}

/** A listener that throws is reported and the others are told all the same. */
export function createListeners<T>(report: (error: unknown) => void): Listeners<T> {
  const listeners = new Set<(value: T) => void>()
  return {
    add(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    tell(value) {
      for (const listener of listeners) {
        try {
          listener(value)
        } catch (error) {
          report(error)
        }
      }
    },
  }
}
