import type { EventPage, PendingUpdate, Position } from '@bezel/protocol/wire'
import { BezelError } from '../errors/bezelError.ts'
import {
  PositionUpdateRefusedError,
  PositionUpdateTimedOutError,
  PositionUpdateWaitError,
} from '../errors/positionErrors.ts'
import { BezelNetworkError } from '../errors/serviceErrors.ts'
import { TransactionRevertedError } from '../errors/transactionErrors.ts'
import type { Broadcaster } from '../orders/createBroadcaster.ts'

/** Options of waiting for a change of a position. */
export interface UpdateWaitOptions {
  /** Timeout of the wait. Default 90,000 ms. */
  readonly timeoutMs?: number
  /** Pause between two reads of the account's log. Default 1,000 ms. */
  readonly pollMs?: number
}

/** A transaction about a position that was sent. */
interface SentToPosition {
  /** The position before it was sent. */
  readonly before: Position
  /** Number of the last event of the account's log before it was sent. */
  readonly after: number
  /** Hash of the transaction. */
  readonly txHash: `0x${string}`
  /** Watches for a revert of the transaction. Without it, a reverted one is waited for until the timeout. */
  readonly watchRevert?: Broadcaster['watchRevert']
}

/** A change of a position that was sent. */
interface SentUpdate extends SentToPosition {
  /** The position with the values that the transaction itself sets. */
  readonly prepared: Position
  /** True when the change waits for the oracle. */
  readonly isAsked: boolean
}

/** Reads a page of the account's log. */
type ReadLog = (of: { readonly after: number; readonly limit: number }) => Promise<EventPage>

interface UpdateReads {
  readonly readPage: ReadLog
  /** Returns the reason of the last refusal since a time, in words; null when none is told. */
  readonly reasonOf: (positionId: string, sinceMs: number) => Promise<string | null>
}

const DEFAULT_TIMEOUT_MS = 90_000

const DEFAULT_POLL_MS = 1_000

const PAGE_LIMIT = 100

/**
 * Waits until a change of a position has taken effect, by the account's log, which misses no step. Throws when it was
 * refused, reverted or timed out, and after the timeout.
 */
export async function waitForUpdate(
  sent: SentUpdate,
  { readPage, reasonOf }: UpdateReads,
  options?: UpdateWaitOptions,
): Promise<Position> {
  const { id } = sent.before
  // The log tells changes only, so it would never tell of a stop that stays where it is.
  if (!sent.isAsked && isSameStops(sent.before, sent.prepared)) return sent.prepared
  const follow = createFollower(sent)
  const isDone = async (now: Position | undefined, isReverted: boolean): Promise<boolean> => {
    const outcome = follow(now, isReverted)
    if (typeof outcome === 'string') return outcome === 'done'
    throw new PositionUpdateRefusedError(id, now, await reasonOf(id, outcome.askedAtMs))
  }
  return (await followPosition(sent, readPage, isDone, options))!
}

/**
 * Waits until a timed-out change of a position is gone: reclaimed, or answered after all. Returns the position then;
 * `undefined` once it is closed. Throws after the timeout.
 */
export function waitForReclaim(
  sent: SentToPosition,
  readPage: ReadLog,
  options?: UpdateWaitOptions,
): Promise<Position | undefined> {
  const reclaimed = sent.before.pendingUpdate?.timesOutAtBlock
  const isGone = async (now: Position | undefined): Promise<boolean> =>
    now?.pendingUpdate?.timesOutAtBlock !== reclaimed
  return followPosition(sent, readPage, isGone, options)
}

/**
 * Reads the log on until the position is as it should be, and returns it; `undefined` when it is closed. Outages of the
 * service are waited out. Throws when the transaction reverted, and after the timeout.
 */
async function followPosition(
  { before: { id }, after: first, txHash, watchRevert }: SentToPosition,
  readPage: ReadLog,
  isDone: (now: Position | undefined, isReverted: boolean) => Promise<boolean>,
  { timeoutMs = DEFAULT_TIMEOUT_MS, pollMs = DEFAULT_POLL_MS }: UpdateWaitOptions = {},
): Promise<Position | undefined> {
  const deadlineMs = performance.now() + timeoutMs
  const leftMs = (): number => deadlineMs - performance.now()
  const isReverted = watchRevert?.(txHash)
  for (let after = first; ;) {
    const page = await readPage({ after, limit: PAGE_LIMIT }).catch(passing)
    const events = 'data' in page ? page.data : []
    for (const event of events) {
      after = event.seq
      if (event.channel !== 'positions') continue
      const now = event.data.find((position) => position.id === id)
      if (await isDone(now, event.reverted)) return now
    }
    // More may follow at once after a full page.
    if (events.length === PAGE_LIMIT) continue
    const look = { isRead: 'data' in page, withinMs: Math.min(pollMs, leftMs()) }
    if ((await isReverted?.(look)) === true) throw new TransactionRevertedError(txHash)
    if (leftMs() <= 0) throw new PositionUpdateWaitError(id, timeoutMs, 'failure' in page ? page.failure : undefined)
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, Math.min(pollMs, leftMs()))))
  }
}

/** The state of a change; an object once it has ended without effect, with the time at which it was requested. */
type UpdateOutcome = 'done' | 'waiting' | { readonly askedAtMs: number }

/**
 * Returns a function that is told the position after each event, `undefined` once it is closed, and returns what has
 * become of the change. Throws when it has timed out. A reorganisation takes back what was told of it.
 */
function createFollower(sent: SentUpdate): (now: Position | undefined, isReverted: boolean) => UpdateOutcome {
  let asked: PendingUpdate | undefined
  return (now, isReverted) => {
    if (isReverted) asked = undefined
    if (now === undefined) return { askedAtMs: asked?.createdAt ?? 0 }
    if (!sent.isAsked) return isSameStops(now, sent.prepared) ? 'done' : 'waiting'
    const { pendingUpdate, leverage } = now
    if (pendingUpdate?.txHash?.toLowerCase() === sent.txHash.toLowerCase()) {
      if (pendingUpdate.status === 'timed_out') throw new PositionUpdateTimedOutError(now, pendingUpdate)
      asked = pendingUpdate
      return 'waiting'
    }
    if (asked !== undefined) return leverage === asked.leverage ? 'done' : { askedAtMs: asked.createdAt }
    return leverage === sent.before.leverage ? 'waiting' : 'done'
  }
}

function isSameStops(a: Position, b: Position): boolean {
  return a.sl === b.sl && a.tp === b.tp
}

/** Returns an error that may pass by itself, so that the wait goes on; throws any other. */
function passing(error: unknown): { readonly failure: unknown } {
  const isPassing = error instanceof BezelNetworkError || (error instanceof BezelError && error.retryable)
  if (isPassing) return { failure: error }
  throw error
}
