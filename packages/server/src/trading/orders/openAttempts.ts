import type { Attempt, OrderEvent } from './orderModel.ts'

/** Returns the end of an attempt: its expiry, or its withdrawal if that was earlier. */
export function endOf({ expiresAtMs, withdrawnAtMs }: Attempt): number {
  return withdrawnAtMs === null ? expiresAtMs : Math.min(withdrawnAtMs, expiresAtMs)
}

/** True when an attempt is over at `nowMs`. A withdrawn one is over whatever the clock says. */
export function hasLapsed(attempt: Attempt, nowMs: number): boolean {
  return attempt.withdrawnAtMs !== null || nowMs >= attempt.expiresAtMs
}

/** True when a hash was reported for the attempt and not found to belong to something else. */
export function isReported({ submittedHash, isMismatch }: Attempt): boolean {
  return submittedHash !== null && !isMismatch
}

/** True when a hash was reported for the attempt and no node has known it for too long. */
export function isUnseen({ trustedUntilMs }: Attempt, nowMs: number): boolean {
  return trustedUntilMs !== null && nowMs >= trustedUntilMs
}

/**
 * True when a transaction of the order may still be mined although nobody sees it: a hash was reported, right or wrong,
 * and the attempt is not out of date. A second transaction could then become a second trade, so none is handed out.
 */
export function mayBeOnItsWay(attempts: readonly Attempt[], nowMs: number): boolean {
  return attempts.some(
    ({ kind, submittedHash, expiresAtMs }) => kind === 'open' && submittedHash !== null && nowMs < expiresAtMs,
  )
}

/** Finds the attempt whose transaction an event is in: by its id, else by the reported hash. */
export function attemptOf(event: OrderEvent, attempts: readonly Attempt[]): Attempt | undefined {
  return (
    attempts.find(({ id }) => id === event.attemptId) ??
    attempts.find((attempt) => isReported(attempt) && attempt.submittedHash === event.txHash)
  )
}

export interface OpenAttempts {
  /** Lapsed or failed attempts, oldest first. */
  readonly over: readonly Attempt[]
  /**
   * The attempt that can still bring the order to the chain. Of several it is the newest reported one, else the newest.
   */
  readonly standing: Attempt | undefined
}

/**
 * Sorts the attempts that bring an order to the chain into those that are over and the standing one. `failed` are those
 * whose transaction was mined and reverted.
 */
export function openAttemptsOf(
  attempts: readonly Attempt[],
  failed: ReadonlySet<Attempt>,
  nowMs: number,
): OpenAttempts {
  const opening = attempts.filter(({ kind }) => kind === 'open').toSorted(byAge)
  const isOver = (attempt: Attempt): boolean => failed.has(attempt) || hasLapsed(attempt, nowMs)
  const standing = opening.filter((attempt) => !isOver(attempt))
  return { over: opening.filter(isOver), standing: standing.findLast(isReported) ?? standing.at(-1) }
}

function byAge(a: Attempt, b: Attempt): number {
  if (a.createdAtMs !== b.createdAtMs) return a.createdAtMs - b.createdAtMs
  return a.id < b.id ? -1 : Number(a.id > b.id)
}
