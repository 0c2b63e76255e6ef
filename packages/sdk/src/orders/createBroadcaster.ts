import type { PreparedTransaction } from '@bezel/protocol/wire'
import { BezelConfigError, WrongChainError } from '../errors/bezelError.ts'
import { BroadcastError, PreparationExpiredError } from '../errors/transactionErrors.ts'
import { isSameAddress } from '../verify/decodeCalls.ts'
import type { TransactionSender } from '../senders/transactionSender.ts'

/** Sends checked transactions, each one once. */
export interface Broadcaster {
  /** Returns the sender. Throws when there is none, or when it is not the agent's. */
  requireSender(agent: string): TransactionSender
  /** Sends a transaction and returns its hash. A transaction that was sent before is not sent again. */
  broadcast(transaction: PreparedTransaction): Promise<`0x${string}`>
}

/**
 * Transactions sent by this process, by their bytes. A repeat under one clientId answers with the same transaction
 * until it is mined, and sent twice it would open two trades.
 */
const sent = new Map<string, Promise<`0x${string}`>>()

/** Number of remembered transactions. They expire within minutes, so the oldest ones are long past. */
const MAX_REMEMBERED = 1_000

/** Creates the broadcaster of a client. */
export function createBroadcaster(sender: TransactionSender | undefined, now: () => number): Broadcaster {
  function requireSender(agent: string): TransactionSender {
    if (sender === undefined) {
      throw new BezelConfigError(
        'NO_SENDER',
        'This client has no sender: give it one (viemSender, privateKeySender), or use prepare and submit.',
      )
    }
    if (!isSameAddress(sender.address, agent)) {
      const message = `The sender is ${sender.address}, but ${agent} is the agent that was prepared for. Give the client the agent's own sender.`
      throw new BezelConfigError('WRONG_SENDER', message)
    }
    return sender
  }

  async function send(from: TransactionSender, transaction: PreparedTransaction): Promise<`0x${string}`> {
    const { to, data, chainId, gas, expiresAt } = transaction
    const found = (await from.chainId?.()) ?? chainId
    if (found !== chainId) throw new WrongChainError({ who: 'The sender', expected: chainId, found })
    if (now() >= expiresAt) throw new PreparationExpiredError(expiresAt, now())
    try {
      return await from.sendTransaction({
        to: to as `0x${string}`,
        data: data as `0x${string}`,
        value: 0n,
        chainId,
        ...(gas === null ? {} : { gas: BigInt(gas) }),
      })
    } catch (error) {
      throw new BroadcastError(error)
    }
  }

  return {
    requireSender,
    broadcast(transaction) {
      if (sender === undefined) return Promise.reject(new BezelConfigError('NO_SENDER', 'This client has no sender.'))
      const key = `${transaction.chainId}:${transaction.data.toLowerCase()}`
      const before = sent.get(key)
      if (before !== undefined) return before
      const sending = send(sender, transaction)
      remember(key, sending)
      return sending
    },
  }
}

function remember(key: string, sending: Promise<`0x${string}`>): void {
  sent.set(key, sending)
  sending.catch(() => sent.delete(key))
  const [oldest] = sent.keys()
  if (sent.size > MAX_REMEMBERED && oldest !== undefined) sent.delete(oldest)
}
