import type { Address } from '@bezel/protocol'

import { diamondCall } from '../chain/diamondCalls.ts'
import type { RpcClient } from '../chain/rpcClient.ts'
import { NodeUnavailableError } from '../chain/rpcOutcome.ts'

/** Who the chain lets trade for a trader. It tells no change of it by an event, so it is read and kept for a short time. */
export interface Delegates {
  /** As of the last look; `undefined` before the first. */
  known(trader: Address): Address | undefined
  /** Reads it again when the last look is older than the setting. Throws `NodeUnavailableError`. */
  read(trader: Address): Promise<Address>
  /** What another read of the chain found, for free. */
  learn(trader: Address, delegate: Address): void
}

export interface DelegatesOptions {
  readonly client: RpcClient
  readonly diamond: Address
  readonly maxAgeMs: number
  readonly now: () => number
}

/** The oldest looks go first; a trader beyond it is simply read again. */
const MAX_KNOWN_TRADERS = 50_000

export function createDelegates({ client, diamond, maxAgeMs, now }: DelegatesOptions): Delegates {
  const looks = new Map<Address, { readonly delegate: Address; readonly atMs: number }>()

  function learn(trader: Address, delegate: Address): void {
    looks.delete(trader)
    looks.set(trader, { delegate, atMs: now() })
    if (looks.size <= MAX_KNOWN_TRADERS) return
    for (const oldest of looks.keys()) {
      looks.delete(oldest)
      break
    }
  }

  return {
    learn,
    known: (trader) => looks.get(trader)?.delegate,
    async read(trader) {
      const look = looks.get(trader)
      if (look !== undefined && now() - look.atMs < maxAgeMs) return look.delegate
      const { call, decode } = diamondCall(diamond, 'getTradingDelegate', [trader])
      const [outcome] = await client.batch([call])
      if (outcome === undefined) throw new NodeUnavailableError('the node gave no answer')
      const delegate = decode(outcome) as Address
      learn(trader, delegate)
      return delegate
    },
  }
}

/** The delegate as far as it can be known now: a node that is away must not hide what the service itself knows of an agent. */
export async function delegateIfKnown(delegates: Delegates, trader: Address): Promise<Address | undefined> {
  try {
    return await delegates.read(trader)
  } catch (error) {
    if (error instanceof NodeUnavailableError) return delegates.known(trader)
    throw error
  }
}
