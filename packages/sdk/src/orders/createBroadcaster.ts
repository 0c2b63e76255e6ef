import type { PreparedTransaction } from '@bezel/protocol/wire'
import { BezelConfigError } from '../errors/bezelError.ts'
import { BroadcastError } from '../errors/broadcastError.ts'
import { PreparationExpiredError, TransactionTimeoutError } from '../errors/transactionErrors.ts'
import { sendFrom } from '../senders/sendFrom.ts'
import { isSameAddress } from '../verify/decodeCalls.ts'
import type { TransactionSender } from '../senders/transactionSender.ts'

/** Sends checked transactions, each one once. */
export interface Broadcaster {
  /** Returns the sender. Throws when there is none, or when it is not the agent's. */
  requireSender(agent: string): TransactionSender
  /**
   * Sends a transaction and returns its hash. A transaction that was sent before, or may have been, is not sent again.
   * `orderId` is the order that it is for, if it is for one.
   */
  broadcast(transaction: PreparedTransaction, orderId?: string): Promise<`0x${string}`>
  /**
   * Waits until a transaction is mined, and returns true when it reverted. Returns false at once when the sender can't
   * read receipts. Outages of the node are waited out. Throws `TransactionTimeoutError` after 90 s.
   */
  isReverted(txHash: `0x${string}`): Promise<boolean>
  /**
   * Returns a function that looks at a transaction once, to be asked after each read of a wait for its effect. Returns
   * true when the transaction has reverted, and three reads and three seconds since then had no better explanation;
   * false while that is not known, so for ever when the sender can't read receipts.
   */
  watchRevert(txHash: `0x${string}`): (of: RevertLook) => Promise<boolean>
}

/** One look of a wait at the receipt of its transaction. */
export interface RevertLook {
  /** True when the read of the service before the look succeeded. */
  readonly isRead: boolean
  /** Longest time that the look may take. An answer that comes later is that of the next look. */
  readonly withinMs: number
}

const MINED_MS = 90_000

const MINED_POLL_MS = 250

/** Reads that a wait makes after it has seen a revert. The service may be a moment behind the node. */
const READS_AFTER_REVERT = 3

/** Least time between a revert that was seen and the end of the wait, however fast it reads. */
const AFTER_REVERT_MS = 3_000

/**
 * Transactions sent by this process, by their bytes, and those that a node may have taken without an answer. A repeat
 * under one clientId answers with the same transaction until it is mined, and sent twice it would open two trades.
 */
const sent = new Map<string, Promise<`0x${string}`>>()

/** Number of remembered transactions. They expire within minutes, so the oldest ones are long past. */
const MAX_REMEMBERED = 1_000

/** Creates the broadcaster of a client. */
export function createBroadcaster(
  sender: TransactionSender | undefined,
  now: () => number,
  { timeoutMs = MINED_MS, pollMs = MINED_POLL_MS } = {},
): Broadcaster {
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

  return {
    requireSender,
    broadcast(transaction, orderId) {
      if (sender === undefined) return Promise.reject(new BezelConfigError('NO_SENDER', 'This client has no sender.'))
      const key = `${transaction.chainId}:${transaction.data.toLowerCase()}`
      const before = sent.get(key)
      if (before !== undefined) return before.catch((error: unknown) => Promise.reject(repeatOf(error, orderId)))
      if (now() >= transaction.expiresAt) {
        return Promise.reject(new PreparationExpiredError(transaction.expiresAt, now()))
      }
      const sending = sendFrom(sender, transaction, orderId)
      remember(key, sending)
      return sending
    },
    async isReverted(txHash) {
      if (sender?.isReverted === undefined) return false
      const deadlineMs = performance.now() + timeoutMs
      for (;;) {
        const looked = await within(lookAt(sender, txHash), deadlineMs - performance.now())
        if (looked?.isReverted !== undefined) return looked.isReverted
        if (performance.now() >= deadlineMs) throw new TransactionTimeoutError(txHash, timeoutMs, looked?.failure)
        await new Promise((resolve) => setTimeout(resolve, pollMs))
      }
    },
    watchRevert: (txHash) =>
      sender?.isReverted === undefined ? async () => false : createRevertWatch(() => lookAt(sender, txHash), now),
  }
}

/** Answer of a node about a receipt: `isReverted` is `undefined` while there is none, or the node failed. */
interface Looked {
  readonly isReverted?: boolean | undefined
  readonly failure?: unknown
}

async function lookAt(sender: TransactionSender, txHash: `0x${string}`): Promise<Looked> {
  try {
    return { isReverted: await sender.isReverted?.(txHash) }
  } catch (failure) {
    return { failure }
  }
}

function createRevertWatch(look: () => Promise<Looked>, now: () => number): (of: RevertLook) => Promise<boolean> {
  let looking: Promise<Looked> | undefined
  let seen: { readonly atMs: number; reads: number } | undefined
  return async ({ isRead, withinMs }) => {
    looking ??= look()
    const looked = await within(looking, withinMs)
    if (looked === undefined) return false
    looking = undefined
    if ('failure' in looked) return false
    // Without its receipt the block was undone, and the transaction may be mined again with another end.
    if (looked.isReverted !== true) seen = undefined
    else if (seen === undefined) seen = { atMs: now(), reads: 0 }
    else {
      if (isRead) seen.reads += 1
      return seen.reads >= READS_AFTER_REVERT && now() - seen.atMs >= AFTER_REVERT_MS
    }
    return false
  }
}

/** Returns the answer, or `undefined` when it takes longer. */
async function within<Answer>(answer: Promise<Answer>, ms: number): Promise<Answer | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), Math.max(0, ms))
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

function isUnclear(error: unknown): boolean {
  return error instanceof BroadcastError && error.reason === 'unknown'
}

/** Returns the error for a repeat of a transaction whose sending failed. */
function repeatOf(error: unknown, orderId: string | undefined): unknown {
  if (!isUnclear(error)) return error
  const words = 'an earlier attempt at it had no answer, so it is not sent twice; ask for it again once it has expired'
  return new BroadcastError(new Error(words, { cause: error }), { orderId })
}

function remember(key: string, sending: Promise<`0x${string}`>): void {
  sent.set(key, sending)
  sending.catch((error: unknown) => isUnclear(error) || sent.delete(key))
  const [oldest] = sent.keys()
  if (sent.size > MAX_REMEMBERED && oldest !== undefined) sent.delete(oldest)
}
