import type { ChainClient } from '@bezel/testkit/chainClient.ts'
import type { Actor } from './cast.ts'
import type { Random } from './random.ts'

/** A prepared transaction, as an answer contains it. */
export interface SendableTransaction {
  readonly to: string
  readonly data: string
  readonly chainId: number
  readonly gas: string | null
}

/** Sends some prepared transactions to the real chain. */
export interface Broadcasts {
  readonly sent: number
  /** Sends the transaction now or long after its expiry, unless the actor has one under way. */
  offer(actor: Actor, transaction: SendableTransaction, random: Random, onSent: (hash: string) => void): void
  /** Resolves when nothing is under way. */
  settle(): Promise<void>
}

const GAS_LIMIT = 8_000_000n
const LATE_MS = 4_000

export function createBroadcasts(chain: ChainClient, gasPrice: bigint): Broadcasts {
  const busy = new Set<string>()
  const underWay = new Set<Promise<void>>()
  let sent = 0

  async function send({ account }: Actor, { to, data, chainId, gas }: SendableTransaction): Promise<string> {
    const nonce = await chain.client.getTransactionCount({ address: account!.address, blockTag: 'pending' })
    const serializedTransaction = await account!.signTransaction({
      type: 'legacy',
      chainId,
      nonce,
      gasPrice,
      to: to as `0x${string}`,
      data: data as `0x${string}`,
      gas: gas === null ? GAS_LIMIT : (BigInt(gas) * 3n) / 2n,
    })
    return chain.client.sendRawTransaction({ serializedTransaction })
  }

  return {
    get sent() {
      return sent
    },
    offer(actor, transaction, random, onSent) {
      const { address } = actor.key
      if (actor.account === undefined || busy.has(address)) return
      const isLate = random.chance(0.1)
      if (!isLate) busy.add(address)
      const work = (async () => {
        if (isLate) await new Promise((resolve) => setTimeout(resolve, LATE_MS))
        try {
          const hash = await send(actor, transaction)
          sent += 1
          onSent(hash)
        } catch {
          // Another transaction took the nonce, or the chain refused it; more will follow.
        } finally {
          if (!isLate) busy.delete(address)
        }
      })()
      underWay.add(work)
      void work.finally(() => underWay.delete(work))
    },
    async settle() {
      await Promise.all(underWay)
    },
  }
}
