import type { Hex } from '@bezel/protocol'
import { keccak256 } from 'viem'

/** Records when the node accepted the transactions that this process sent. */
export interface BroadcastWatch {
  /** Resolves with the time at which the node confirmed that it has the transaction. */
  taken(hash: Hex): Promise<number>
  close(): void
}

/**
 * Watches every request of this process to a node. The recorded time is that of the answer to the request with the
 * transaction.
 */
export function watchBroadcasts(): BroadcastWatch {
  const plain = globalThis.fetch
  const times = new Map<Hex, number>()
  const waiting = new Map<Hex, (atMs: number) => void>()

  globalThis.fetch = async (...asked) => {
    const answer = await plain(...asked)
    const body = asked[1]?.body
    if (typeof body !== 'string' || !body.includes('eth_sendRawTransaction')) return answer
    const atMs = performance.now()
    for (const raw of body.match(/"0x02[0-9a-f]{100,}"/g) ?? []) {
      const hash = keccak256(raw.slice(1, -1) as Hex) as Hex
      if (times.has(hash)) continue
      times.set(hash, atMs)
      waiting.get(hash)?.(atMs)
    }
    return answer
  }

  return {
    taken: (hash) => {
      const atMs = times.get(hash)
      return atMs === undefined ? new Promise((resolve) => waiting.set(hash, resolve)) : Promise.resolve(atMs)
    },
    close: () => void (globalThis.fetch = plain),
  }
}
