import type { Socket } from 'node:net'

/**
 * Calls listeners once, when all that waits is written. Where little waits the system says nothing of it, and they are called as soon as
 * the caller is done.
 */
export function createOnceDrained(socket: Socket): (listener: () => void) => void {
  const listeners: (() => void)[] = []

  function onDrained(): void {
    for (const listener of listeners.splice(0)) listener()
  }

  return (listener) => {
    if (!socket.writableNeedDrain) return queueMicrotask(listener)
    if (listeners.length === 0) socket.once('drain', onDrained)
    listeners.push(listener)
  }
}
