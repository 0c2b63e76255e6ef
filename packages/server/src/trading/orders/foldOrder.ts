import { Price, type Decimal, type Hex, type OrderReason } from '@bezel/protocol'
import { slippageDecimal, triggerDecimal } from '../market/amounts.ts'
import { changeLapsesAt } from './countedSpend.ts'
import { attemptOf, openAttemptsOf, type OpenAttempts, endOf, isReported, isUnseen } from './openAttempts.ts'
import type { Attempt, FoldClock, OrderEvent, OrderRecord, OrderState, RestingTerms } from './orderModel.ts'
import { nextStatus, type OrderCause, type OrderStanding } from './orderTransitions.ts'
import {
  causeOfAnswers,
  timeoutBlockOf,
  withAnswer,
  type RequestAnswer,
  type RequestLeg,
  fillOf,
  reasonOf,
  unansweredOf,
} from './requestLegs.ts'

/** The state of an order in the middle of a fold. */
interface OrderProgress {
  readonly status: OrderStanding
  readonly terms: Pick<OrderState, 'size' | 'price' | 'sl' | 'tp' | 'slippage'>
  /** The first event that brought it to the chain. */
  readonly arrival: OrderEvent | undefined
  /** Trade index that the chain gave it when it was last placed. */
  readonly tradeIndex: number | null
  /** Requests to the oracle, in the order in which they were made. */
  readonly legs: readonly RequestLeg[]
  /** An answer without a request: the execution of a resting order, or a keeper's close. */
  readonly direct: RequestAnswer | undefined
  /** The failed transaction that rejected it. */
  readonly failure: OrderEvent | undefined
  /** Time of the last attempt or event. The clock has no part in it, so folding later gives the same. */
  readonly updatedAtMs: number
}

/**
 * Computes the state of an order; nothing else decides it. It steps through the attempts, then through the events of
 * the chain, then checks the timeout, each step by the table of transitions. Returns `undefined` when nothing was
 * prepared and the chain does not know the order.
 *
 * Times of attempts come from this service's clock and those of events from the chain's, so no step compares the two:
 * an event always overrules what was prepared.
 */
export function foldOrder(
  record: OrderRecord,
  attempts: readonly Attempt[],
  events: readonly OrderEvent[],
  clock: FoldClock,
): OrderState | undefined {
  const sorted = events.toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
  const opening = openAttemptsOf(attempts, failedAttempts(sorted, attempts), clock.nowMs)
  let progress = foldAttempts(initialProgress(record), opening, clock.nowMs)
  for (const event of sorted) {
    // An answer may come after the timeout, so the timeout is checked up to the block before each event.
    progress = foldTimeout(progress, event.blockNumber - 1, clock.timeoutBlocks)
    progress = foldEvent(progress, event, attempts, opening)
  }
  progress = foldTimeout(progress, clock.headBlock, clock.timeoutBlocks)
  const state = orderStateOf(progress, attempts, opening, clock)
  if (state?.status !== 'open') return state
  // A change that is not mined in time stops counting against the agent's cap.
  return { ...state, dueAtMs: changeLapsesAt({ state, attempts, events: sorted }, clock.nowMs) }
}

function initialProgress({ request, createdAtMs }: OrderRecord): OrderProgress {
  const { size, price, sl, tp, slippage } = request
  return {
    status: 'absent',
    terms: { size, price, sl, tp, slippage },
    arrival: undefined,
    tradeIndex: null,
    legs: [],
    direct: undefined,
    failure: undefined,
    updatedAtMs: createdAtMs,
  }
}

function failedAttempts(events: readonly OrderEvent[], attempts: readonly Attempt[]): ReadonlySet<Attempt> {
  const failed = events.filter(({ kind }) => kind === 'reverted').map((event) => attemptOf(event, attempts))
  return new Set(failed.filter((attempt) => attempt !== undefined))
}

/** Applies a cause with its changes. Nothing changes when the cause has no meaning in the present status. */
function step(progress: OrderProgress, cause: OrderCause, changes: Partial<OrderProgress>): OrderProgress {
  const status = nextStatus(progress.status, cause)
  if (status === undefined) return progress
  const updatedAtMs = Math.max(progress.updatedAtMs, changes.updatedAtMs ?? 0)
  return { ...progress, ...changes, status, updatedAtMs }
}

/** Applies the attempts that are over first, so that the standing one decides. */
function foldAttempts(from: OrderProgress, { over, standing }: OpenAttempts, nowMs: number): OrderProgress {
  let progress = from
  // The time of the lapse is not kept, because a transaction that is mined after all makes it irrelevant.
  for (const attempt of over) progress = step(begin(progress, attempt, nowMs), 'lapsed', {})
  return standing === undefined ? progress : begin(progress, standing, nowMs)
}

function begin(from: OrderProgress, attempt: Attempt, nowMs: number): OrderProgress {
  const prepared = step(from, 'prepared', { updatedAtMs: attempt.createdAtMs })
  if (attempt.submittedHash === null) return prepared
  const reported = step(prepared, 'reported', { updatedAtMs: attempt.submittedAtMs ?? attempt.createdAtMs })
  if (attempt.isMismatch) return step(reported, 'mismatched', {})
  return isUnseen(attempt, nowMs) ? step(reported, 'unseen', {}) : reported
}

function foldEvent(
  progress: OrderProgress,
  event: OrderEvent,
  attempts: readonly Attempt[],
  opening: OpenAttempts,
): OrderProgress {
  const updatedAtMs = event.timestampMs
  const arrival = progress.arrival ?? event
  switch (event.kind) {
    case 'requested': {
      const leg = { pendingIndex: event.pendingIndex, createdBlock: event.blockNumber, answer: undefined }
      return step(progress, 'requested', { updatedAtMs, arrival, legs: [...progress.legs, leg] })
    }
    case 'placed': {
      const size = replacedSize(event, attempts) ?? progress.terms.size
      const terms = { size, ...restingTerms(event) }
      return step(progress, 'placed', { updatedAtMs, arrival, terms, tradeIndex: event.tradeIndex })
    }
    case 'adopted':
      return foldAdopted(progress, event)
    case 'updated':
      return step(progress, 'updated', { updatedAtMs, terms: { ...progress.terms, ...restingTerms(event) } })
    case 'canceled':
      return step(progress, 'canceled', { updatedAtMs })
    case 'executed':
    case 'refused':
    case 'reclaimed':
      return foldAnswer(progress, event)
    case 'reverted':
      return isFatal(progress, event, attempts, opening)
        ? step(progress, 'reverted', { updatedAtMs, failure: event })
        : progress
  }
}

type AdoptedEvent = Extract<OrderEvent, { kind: 'adopted' }>

/** Applies what was found on the chain. An order that is known already only gets the terms that were found. */
function foldAdopted(progress: OrderProgress, event: AdoptedEvent): OrderProgress {
  const changes = { updatedAtMs: event.timestampMs, arrival: progress.arrival ?? event }
  if (event.found === 'resting') {
    const terms = { ...progress.terms, ...restingTerms(event) }
    const cause = progress.status === 'open' ? 'updated' : 'placed'
    return step(progress, cause, { ...changes, terms, tradeIndex: event.tradeIndex })
  }
  const { pendingIndex, createdBlock } = event
  if (progress.legs.some((leg) => leg.pendingIndex === pendingIndex)) return progress
  const leg = { pendingIndex, createdBlock, answer: undefined }
  return step(progress, 'requested', { ...changes, legs: [...progress.legs, leg] })
}

/** Applies an answer to the request it belongs to, or to the whole order when it made no request. */
function foldAnswer(progress: OrderProgress, answer: RequestAnswer): OrderProgress {
  const changes = { updatedAtMs: answer.timestampMs, terms: executedTerms(progress, answer) }
  if (progress.legs.length === 0) return step(progress, answer.kind, { ...changes, direct: answer })
  const legs = withAnswer(progress.legs, answer)
  return legs === undefined ? progress : step(progress, causeOfAnswers(legs), { ...changes, legs })
}

/** Returns the terms after an answer: the contracts measure the stop loss again from the execution price. */
function executedTerms({ terms }: OrderProgress, answer: RequestAnswer): OrderProgress['terms'] {
  if (answer.kind !== 'executed' || answer.sl === undefined) return terms
  return { ...terms, sl: triggerDecimal(answer.sl) }
}

/**
 * True when a failed transaction ends the order, because no other could have brought it to the chain. A failed change
 * leaves the order as it was.
 */
function isFatal(
  progress: OrderProgress,
  event: OrderEvent,
  attempts: readonly Attempt[],
  { standing }: OpenAttempts,
): boolean {
  return progress.arrival === undefined && standing === undefined && attemptOf(event, attempts)?.kind === 'open'
}

/** Marks an order as timed out when one of its requests has waited too long. */
function foldTimeout(progress: OrderProgress, headBlock: number, timeoutBlocks: number): OrderProgress {
  const dueBlock = timeoutBlockOf(progress.legs, timeoutBlocks)
  return dueBlock !== null && headBlock >= dueBlock ? step(progress, 'timedOut', {}) : progress
}

/** Returns the size of an order that was replaced by one of another size; the chain does not keep it. */
function replacedSize(event: OrderEvent, attempts: readonly Attempt[]): Decimal | null {
  const attempt = attemptOf(event, attempts)
  return attempt?.kind === 'replace' ? attempt.size : null
}

/** Returns the terms of a resting order as its state shows them. */
export function restingTerms(terms: RestingTerms): Pick<OrderState, 'price' | 'sl' | 'tp' | 'slippage'> {
  return {
    price: Price.format(terms.price),
    sl: triggerDecimal(terms.sl),
    tp: triggerDecimal(terms.tp),
    slippage: slippageDecimal(terms.slippageP),
  }
}

/** Returns the state at the end of an order's history; `undefined` when it has none. */
function orderStateOf(
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
    dueAtMs: isOnChain(progress) ? null : dueAtOf(status, opening),
    dueBlock: status === 'pending' ? timeoutBlockOf(legs, timeoutBlocks) : null,
    countedSinceMs: countedSinceOf(progress, attempts, opening),
  }
}

/** Returns the time at which an order changes that is not on the chain: no node knows its hash, or it expires. */
function dueAtOf(status: OrderStanding, { standing }: OpenAttempts): number | null {
  if (standing === undefined) return null
  const { expiresAtMs, trustedUntilMs } = standing
  return status === 'pending' && trustedUntilMs !== null ? Math.min(trustedUntilMs, expiresAtMs) : expiresAtMs
}

function isOnChain({ arrival, direct }: OrderProgress): boolean {
  return arrival !== undefined || direct !== undefined
}

function answersOf({ legs, direct }: OrderProgress): readonly RequestAnswer[] {
  return [...legs.map(({ answer }) => answer), direct].filter((answer) => answer !== undefined)
}

/**
 * Returns the hash of the decisive transaction: the one that brought the order to the chain, else the failed one, else
 * the reported one.
 */
function txHashOf({ status, arrival, direct, failure }: OrderProgress, { over, standing }: OpenAttempts): Hex | null {
  const decided = arrival ?? direct ?? failure
  if (decided !== undefined) return decided.txHash
  // The reported hash of an earlier attempt is ignored: the order now waits for another transaction.
  if (status === 'prepared') return standing !== undefined && isReported(standing) ? standing.submittedHash : null
  return standing?.submittedHash ?? over.findLast(isReported)?.submittedHash ?? null
}

function reasonOfOrder(progress: OrderProgress, answers: readonly RequestAnswer[]): OrderReason | null {
  if (isOnChain(progress)) return reasonOf(answers)
  return progress.failure === undefined ? null : 'OTHER'
}

/**
 * Returns the time of the last change. The end of an attempt counts only while the order is expired, and the end of the
 * trust in its hash only while it is prepared for that reason; the chain makes both irrelevant.
 */
function updatedAtOf({ status, updatedAtMs }: OrderProgress, { over, standing }: OpenAttempts): number {
  if (status === 'expired') return Math.max(updatedAtMs, ...over.map(endOf))
  const isGivenUp = status === 'prepared' && standing !== undefined && isReported(standing)
  return isGivenUp ? Math.max(updatedAtMs, standing.trustedUntilMs ?? 0) : updatedAtMs
}

/**
 * Returns the time since when the order counts against its agent's cap. A prepared order counts from its preparation
 * on, also once its transaction is mined. An order whose attempt had ended before its block stopped counting, and
 * counts again from that block on.
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
