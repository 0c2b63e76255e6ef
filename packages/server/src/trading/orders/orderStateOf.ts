import type { Hex, OrderReason } from '@bezel/protocol'
import { attemptOf, endOf, isReported, type OpenAttempts } from './openAttempts.ts'
import type { Attempt, FoldClock, OrderState } from './orderModel.ts'
import type { OrderProgress } from './orderProgress.ts'
import { fillOf, reasonOf, timeoutBlockOf, unansweredOf, type Answer } from './requestLegs.ts'

/** What readers see of an order at the end of its history; `undefined` when it has none. */
export function orderStateOf(
  progress: OrderProgress,
  attempts: readonly Attempt[],
  opening: OpenAttempts,
  { timeoutBlocks }: FoldClock,
): OrderState | undefined {
  const { status, legs } = progress
  if (status === 'absent') return undefined
  const answers = answersOf(progress)
  const isWaiting = status === 'pending' || status === 'timed_out'
  const expiresAtMs = isOnChain(progress) ? null : (opening.standing?.expiresAtMs ?? null)
  return {
    status,
    ...progress.terms,
    txHash: txHashOf(progress, opening),
    expiresAtMs,
    fill: fillOf(answers),
    reason: reasonOfOrder(progress, answers),
    updatedAtMs: updatedAtOf(progress, opening),
    tradeIndex: status === 'open' ? progress.tradeIndex : null,
    unanswered: isWaiting ? unansweredOf(legs).map(({ pendingIndex }) => pendingIndex) : [],
    dueAtMs: expiresAtMs,
    dueBlock: status === 'pending' ? timeoutBlockOf(legs, timeoutBlocks) : null,
    countedSinceMs: countedSinceOf(progress, attempts, opening),
  }
}

function isOnChain({ arrival, direct }: OrderProgress): boolean {
  return arrival !== undefined || direct !== undefined
}

function answersOf({ legs, direct }: OrderProgress): readonly Answer[] {
  return [...legs.map(({ answer }) => answer), direct].filter((answer) => answer !== undefined)
}

/** Of the transaction that decided: what brought it to the chain, else what failed, else what was reported. */
function txHashOf({ status, arrival, direct, failure }: OrderProgress, { over, standing }: OpenAttempts): Hex | null {
  const decided = arrival ?? direct ?? failure
  if (decided !== undefined) return decided.txHash
  // An earlier attempt may have been reported in vain: the order now waits for another transaction.
  if (status === 'prepared') return null
  return standing?.submittedHash ?? over.findLast(isReported)?.submittedHash ?? null
}

function reasonOfOrder(progress: OrderProgress, answers: readonly Answer[]): OrderReason | null {
  if (isOnChain(progress)) return reasonOf(answers)
  return progress.failure === undefined ? null : 'OTHER'
}

/** Only an order that is expired now was last changed by that. */
function updatedAtOf({ status, updatedAtMs }: OrderProgress, { over }: OpenAttempts): number {
  return status === 'expired' ? Math.max(updatedAtMs, ...over.map(endOf)) : updatedAtMs
}

/**
 * Since when it counts against its agent's cap. A prepared order counts from then on, also when its transaction is mined; one whose attempt
 * was over by then did not count any more, and does again from its block on.
 */
function countedSinceOf(
  { arrival, direct, updatedAtMs }: OrderProgress,
  attempts: readonly Attempt[],
  { over, standing }: OpenAttempts,
): number {
  const event = arrival ?? direct
  if (event === undefined) return (standing ?? over.at(-1))?.createdAtMs ?? updatedAtMs
  const attempt = attemptOf(event, attempts)
  return attempt !== undefined && event.timestampMs < endOf(attempt) ? attempt.createdAtMs : event.timestampMs
}
