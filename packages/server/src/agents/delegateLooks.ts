import type { Address } from '@bezel/protocol'
import { putLast } from '../ground/putLast.ts'

/** Who a trader's delegate was, as the chain said at `atMs`, when it was asked. */
export interface Look {
  readonly delegate: Address
  readonly atMs: number
}

export type OnDelegate = (trader: Address, before: Address | undefined, after: Address) => void

/** The last look at each trader. */
export interface Looks {
  get(trader: Address): Look | undefined
  /** One that is older than what is known changes nothing: two reads may overtake each other. */
  put(trader: Address, look: Look): void
  /** Called when a look differs from the one before; `undefined` before the first. Returns what ends it. */
  onDelegate(listener: OnDelegate): () => void
}

/** The oldest looks go first; a trader beyond it is simply read again. */
const MAX_KNOWN_TRADERS = 50_000

export function createLooks(): Looks {
  const looks = new Map<Address, Look>()
  const listeners = new Set<OnDelegate>()
  return {
    get: (trader) => looks.get(trader),
    put(trader, look) {
      const before = looks.get(trader)
      if (before !== undefined && before.atMs > look.atMs) return
      putLast(looks, trader, look, MAX_KNOWN_TRADERS)
      if (before?.delegate === look.delegate) return
      for (const listener of listeners) listener(trader, before?.delegate, look.delegate)
    },
    onDelegate(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
