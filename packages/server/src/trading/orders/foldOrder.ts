import { formatDecimal, type Decimal } from '@bezel/protocol'
import { attemptOf, openAttemptsOf, type OpenAttempts } from './openAttempts.ts'
import type { OrderProgress } from './orderProgress.ts'
import type { Attempt, FoldClock, OrderEvent, OrderRecord, OrderState, RestingTerms } from './orderModel.ts'
import { orderStateOf } from './orderStateOf.ts'
import { nextStatus, type OrderCause } from './orderTransitions.ts'
import { causeOfAnswers, timeoutBlockOf, withAnswer, type Answer } from './requestLegs.ts'

const PRICE_DECIMALS = 10
const SLIPPAGE_DECIMALS = 3

/**
 * An order as it stands: the one function that decides. It steps through the attempts, then through what the chain said, then asks for the
 * timeout, each step by the table of transitions. `undefined`: neither was anything prepared nor does the chain know of it.
 *
 * Times of attempts come from our clock and those of events from the chain's, so no step compares the two: an event always has the last
 * word over what was prepared.
 */
export function foldOrder(
  record: OrderRecord,
  attempts: readonly Attempt[],
  events: readonly OrderEvent[],
  clock: FoldClock,
): OrderState | undefined {
  const sorted = events.toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
  const opening = openAttemptsOf(attempts, failedAttempts(sorted, attempts), clock.nowMs)
  let progress = foldAttempts(initialProgress(record), opening)
  for (const event of sorted) {
    // An answer may come after the timeout.
    progress = foldTimeout(progress, event.blockNumber - 1, clock.timeoutBlocks)
    progress = foldEvent(progress, event, attempts, opening)
  }
  progress = foldTimeout(progress, clock.headBlock, clock.timeoutBlocks)
  return orderStateOf(progress, attempts, opening, clock)
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

/** Moves on by `cause` with what it changes; stays as it is when the cause means nothing here. */
function step(progress: OrderProgress, cause: OrderCause, changes: Partial<OrderProgress>): OrderProgress {
  const status = nextStatus(progress.status, cause)
  if (status === undefined) return progress
  const updatedAtMs = Math.max(progress.updatedAtMs, changes.updatedAtMs ?? 0)
  return { ...progress, ...changes, status, updatedAtMs }
}

/** First those that are over, so that the one that stands has the last word. */
function foldAttempts(from: OrderProgress, { over, standing }: OpenAttempts): OrderProgress {
  let progress = from
  // When it lapsed is not kept: a transaction that is mined after all makes it irrelevant.
  for (const attempt of over) progress = step(begin(progress, attempt), 'lapsed', {})
  return standing === undefined ? progress : begin(progress, standing)
}

function begin(from: OrderProgress, attempt: Attempt): OrderProgress {
  const prepared = step(from, 'prepared', { updatedAtMs: attempt.createdAtMs })
  if (attempt.submittedHash === null) return prepared
  const reported = step(prepared, 'reported', { updatedAtMs: attempt.submittedAtMs ?? attempt.createdAtMs })
  return attempt.isMismatch ? step(reported, 'mismatched', {}) : reported
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

/** An answer to one of the requests; to the order as a whole when it made none. */
function foldAnswer(progress: OrderProgress, answer: Answer): OrderProgress {
  const updatedAtMs = answer.timestampMs
  if (progress.legs.length === 0) return step(progress, answer.kind, { updatedAtMs, direct: answer })
  const legs = withAnswer(progress.legs, answer)
  return legs === undefined ? progress : step(progress, causeOfAnswers(legs), { updatedAtMs, legs })
}

/** A failed transaction ends an order that it alone could have brought to the chain. A failed change leaves it as it was. */
function isFatal(
  progress: OrderProgress,
  event: OrderEvent,
  attempts: readonly Attempt[],
  { standing }: OpenAttempts,
): boolean {
  return progress.arrival === undefined && standing === undefined && attemptOf(event, attempts)?.kind === 'open'
}

/** Moves on an order of which a request has waited too long. */
function foldTimeout(progress: OrderProgress, headBlock: number, timeoutBlocks: number): OrderProgress {
  const dueBlock = timeoutBlockOf(progress.legs, timeoutBlocks)
  return dueBlock !== null && headBlock >= dueBlock ? step(progress, 'timedOut', {}) : progress
}

/** Of an order that was replaced by one of another size, which the chain does not keep. */
function replacedSize(event: OrderEvent, attempts: readonly Attempt[]): Decimal | null {
  const attempt = attemptOf(event, attempts)
  return attempt?.kind === 'replace' ? attempt.size : null
}

function restingTerms(terms: RestingTerms): Pick<OrderState, 'price' | 'sl' | 'tp' | 'slippage'> {
  return {
    price: formatDecimal(terms.price, PRICE_DECIMALS),
    sl: priceIfSet(terms.sl),
    tp: priceIfSet(terms.tp),
    slippage: formatDecimal(BigInt(terms.slippageP), SLIPPAGE_DECIMALS),
  }
}

function priceIfSet(price: bigint): Decimal | null {
  return price === 0n ? null : formatDecimal(price, PRICE_DECIMALS)
}
