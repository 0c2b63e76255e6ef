import type { Hex } from '@bezel/protocol'
import { keccak256 } from 'viem'

/** When the node had the transactions that this process sent to it. */
export interface BroadcastWatch {
  /** By hash, once the node has answered that it has it. */
  taken(hash: Hex): Promise<number>
  close(): void
}

/** Looks at every request to a node that this process makes: the time is that of the answer to the one that carries the transaction. */
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
