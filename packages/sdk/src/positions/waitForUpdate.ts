import type { PendingUpdate, Position } from '@bezel/protocol/wire'
import type { EventPage } from '../account/createAccount.ts'
import { BezelError } from '../errors/bezelError.ts'
import {
  PositionUpdateRefusedError,
  PositionUpdateTimedOutError,
  PositionUpdateWaitError,
} from '../errors/positionErrors.ts'
import { BezelNetworkError } from '../errors/serviceErrors.ts'

/** Options of waiting for a change of a position. */
export interface UpdateWaitOptions {
  /** Timeout of the wait. Default 90,000 ms. */
  readonly timeoutMs?: number
  /** Pause between two reads of the account's log. Default 1,000 ms. */
  readonly pollMs?: number
}

/** A change of a position that was sent. */
interface SentUpdate {
  /** The position before the change. */
  readonly before: Position
  /** The position with the values that the transaction itself sets. */
  readonly prepared: Position
  /** True when the change waits for the oracle. */
  readonly isAsked: boolean
  readonly txHash: `0x${string}`
  /** Number of the last event of the account's log before it was sent. */
  readonly after: number
}

interface UpdateReads {
  readonly readPage: (of: { readonly after: number; readonly limit: number }) => Promise<EventPage>
  /** Returns the reason of the last refusal since a time, in words; null when none is told. */
  readonly reasonOf: (positionId: string, sinceMs: number) => Promise<string | null>
}

const DEFAULT_TIMEOUT_MS = 90_000

const DEFAULT_POLL_MS = 1_000

const PAGE_LIMIT = 100

/**
 * Waits until a change of a position has taken effect, by the account's log, which misses no step. Outages of the
 * service are waited out. Throws when it was refused or timed out, and after the timeout.
 */
export async function waitForUpdate(
  sent: SentUpdate,
  { readPage, reasonOf }: UpdateReads,
  { timeoutMs = DEFAULT_TIMEOUT_MS, pollMs = DEFAULT_POLL_MS }: UpdateWaitOptions = {},
): Promise<Position> {
  const { id } = sent.before
  // The log tells changes only, so it would never tell of a stop that stays where it is.
  if (!sent.isAsked && isSameStops(sent.before, sent.prepared)) return sent.prepared
  const follow = createFollower(sent)
  const deadlineMs = performance.now() + timeoutMs
  let { after } = sent
  for (;;) {
    const page = await readPage({ after, limit: PAGE_LIMIT }).catch(passing)
    const events = 'data' in page ? page.data : []
    for (const event of events) {
      after = event.seq
      if (event.channel !== 'positions') continue
      const now = event.data.find((position) => position.id === id)
      const outcome = follow(now, event.reverted)
      if (outcome === 'waiting') continue
      if (outcome === 'done') return now!
      throw new PositionUpdateRefusedError(id, now, await reasonOf(id, outcome.askedAtMs))
    }
    // More may follow at once after a full page.
    if (events.length === PAGE_LIMIT) continue
    const leftMs = deadlineMs - performance.now()
    if (leftMs <= 0) throw new PositionUpdateWaitError(id, timeoutMs, 'failure' in page ? page.failure : undefined)
    await new Promise((resolve) => setTimeout(resolve, Math.min(pollMs, leftMs)))
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
    if (pendingUpdate?.txHash.toLowerCase() === sent.txHash.toLowerCase()) {
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
