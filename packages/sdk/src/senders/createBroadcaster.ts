import type { PreparedTransaction } from '@bezel/protocol/wire'
import { BezelConfigError } from '../errors/bezelConfigError.ts'
import { BroadcastError } from '../errors/broadcastError.ts'
import { PreparationExpiredError } from '../errors/preparationExpiredError.ts'
import { WrongChainError } from '../errors/wrongChainError.ts'
import { isSame } from '../verify/decodeCalls.ts'
import type { TransactionSender } from './transactionSender.ts'

/** Sends prepared transactions that were checked, each one once. */
export interface Broadcaster {
  /** Throws when there is no sender, or one that is not the agent. */
  requireSender(agent: string): TransactionSender
  broadcast(transaction: PreparedTransaction): Promise<`0x${string}`>
}

/**
 * By their bytes, which hold an id of their own: a repeat under one clientId answers with the same transaction while it is not mined, and
 * sent twice it would open two trades.
 */
const sent = new Map<string, Promise<`0x${string}`>>()
/** Transactions are good for minutes, so the oldest of these are long past. */
const MAX_REMEMBERED = 1_000

export function createBroadcaster(sender: TransactionSender | undefined, now: () => number): Broadcaster {
  function requireSender(agent: string): TransactionSender {
    if (sender === undefined) {
      throw new BezelConfigError(
        'NO_SENDER',
        'This client has no sender: give it one (viemSender, privateKeySender), or use prepare and submit.',
      )
    }
    if (!isSame(sender.address, agent)) {
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
