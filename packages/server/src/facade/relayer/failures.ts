import type { Hex } from '@bezel/protocol'
import type { RelayMemory } from './relayContext.ts'

/** Who wants to know of transactions that fail on the chain. */
export interface Failures {
  /** Returns what ends it. */
  listen(hash: Hex, listener: () => void): () => void
  /** Tells whoever waits for what is known to have failed, each once. */
  look(memory: RelayMemory): void
}

/** Held only while a request waits, so a crash loses nothing. */
export function createFailures(): Failures {
  const listeners = new Map<Hex, Set<() => void>>()

  return {
    listen(hash, listener) {
      const all = listeners.get(hash) ?? new Set()
      listeners.set(hash, all.add(listener))
      return () => {
        all.delete(listener)
        if (all.size === 0 && listeners.get(hash) === all) listeners.delete(hash)
      }
    },
    look(memory) {
      for (const [hash, all] of listeners) {
        if (!isFailed(memory, hash)) continue
        listeners.delete(hash)
        for (const listener of all) listener()
      }
    },
  }
}

/** A nonce that was burnt is as good as a failure: the action can't come any more. */
function isFailed({ tracked, nonceByHash }: RelayMemory, hash: Hex): boolean {
  const mined = tracked.get(nonceByHash.get(hash) ?? -1)?.mined
  return mined !== undefined && (mined.isReverted || mined.kind === 'burn')
}
