import { keccak256, type Hex } from 'viem'
import type { ChainClient } from '@bezel/testkit/chainClient.ts'
import type { Lie } from './faultyProxy.ts'

/** A node that shows no mempool, like a sequencer or a private relay: transactions are accepted and seen by nobody. */
export interface PrivateRelay {
  /** The fault for a proxy in front of the real node. */
  readonly lie: Lie
  /** Hashes of the transactions that are held back. */
  held(): readonly Hex[]
  /** Passes everything that is held on to the real node, and waits until it is mined. */
  release(): Promise<void>
}

interface Call {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

export function createPrivateRelay({ client }: Pick<ChainClient, 'client'>): PrivateRelay {
  const held = new Map<Hex, Hex>()

  function hold({ id, params }: Call): object {
    const bytes = params[0] as Hex
    const hash = keccak256(bytes)
    held.set(hash, bytes)
    return { jsonrpc: '2.0', id, result: hash }
  }

  return {
    async lie(asked, honest) {
      const calls = JSON.parse(asked) as Call | Call[]
      const isSending = !Array.isArray(calls) && calls.method === 'eth_sendRawTransaction'
      return { text: isSending ? JSON.stringify(hold(calls)) : await honest() }
    },
    held: () => [...held.keys()],
    async release() {
      for (const [hash, serializedTransaction] of held) {
        await client.sendRawTransaction({ serializedTransaction })
        await client.waitForTransactionReceipt({ hash })
      }
      held.clear()
    },
  }
}
