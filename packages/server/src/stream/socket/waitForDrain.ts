import type { Connection } from '../connection.ts'

/** Somebody waits until all that was written to a socket is taken. */
export interface DrainWait {
  readonly isOver: Promise<void>
  /** Ends it early. */
  stop(): void
}

/** `onLate` is called when it takes longer. */
export function waitForDrain(connection: Pick<Connection, 'onDrain'>, maxMs: number, onLate: () => void): DrainWait {
  const { promise, resolve } = Promise.withResolvers<void>()
  const late = setTimeout(onLate, maxMs)
  const stop = (): void => {
    clearTimeout(late)
    resolve()
  }
  connection.onDrain(stop)
  return { isOver: promise, stop }
}
