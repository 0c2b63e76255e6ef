import type { Attempt, OrderEvent } from './orderModel.ts'

/** When an attempt stops being good: it expires, or was withdrawn before. */
export function endOf({ expiresAtMs, withdrawnAtMs }: Attempt): number {
  return withdrawnAtMs === null ? expiresAtMs : Math.min(withdrawnAtMs, expiresAtMs)
}

/** Out of date at `nowMs`. A withdrawal is known to whoever reads it, whatever their clock says. */
export function hasLapsed(attempt: Attempt, nowMs: number): boolean {
  return attempt.withdrawnAtMs !== null || nowMs >= attempt.expiresAtMs
}

/** The hash reported for it counts. */
export function isReported({ submittedHash, isMismatch }: Attempt): boolean {
  return submittedHash !== null && !isMismatch
}

/** The one whose transaction an event is in: known by its id, else by the hash that was reported. */
export function attemptOf(event: OrderEvent, attempts: readonly Attempt[]): Attempt | undefined {
  return (
    attempts.find(({ id }) => id === event.attemptId) ??
    attempts.find((attempt) => isReported(attempt) && attempt.submittedHash === event.txHash)
  )
}

export interface OpenAttempts {
  /** Lapsed or failed ones, oldest first. */
  readonly over: readonly Attempt[]
  /** The one that can still bring the order to the chain. Of several, one that was reported, then the newest. */
  readonly standing: Attempt | undefined
}

/** Sorts out the attempts that bring an order to the chain. `failed` are those whose transaction was mined and reverted. */
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
