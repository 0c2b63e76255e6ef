/** Publishes messages to the current subscribers. */
export interface Publisher<Message> {
  /** Adds a listener. Returns a function that ends the subscription. */
  subscribe(listener: (message: Message) => void): () => void
  /** Calls every listener before it returns. */
  publish(message: Message): void
  hasSubscribers(): boolean
}

export function createPublisher<Message = void>(): Publisher<Message> {
  const listeners = new Set<(message: Message) => void>()
  return {
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    publish(message) {
      for (const listener of listeners) listener(message)
    },
    hasSubscribers: () => listeners.size > 0,
  }
}
