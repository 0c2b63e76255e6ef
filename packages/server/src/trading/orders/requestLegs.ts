import {
  Price,
  decimalPlaces,
  formatDecimal,
  scaleDecimalTruncated,
  type Decimal,
  type Fill,
  type OrderReason,
} from '@bezel/protocol'
import type { OrderCause } from './orderTransitions.ts'
import type { OrderEvent } from './orderModel.ts'

export type RequestAnswer = Extract<OrderEvent, { kind: 'executed' | 'refused' | 'reclaimed' }>

/** A request to the oracle and its answer. */
export interface RequestLeg {
  readonly pendingIndex: number
  readonly createdBlock: number
  readonly answer: RequestAnswer | undefined
}

/** Returns the legs with `answer` added to its leg; `undefined` when no leg waits for it. */
export function withAnswer(legs: readonly RequestLeg[], answer: RequestAnswer): readonly RequestLeg[] | undefined {
  const place = legs.findIndex((leg) => leg.pendingIndex === answer.pendingIndex && leg.answer === undefined)
  const leg = legs[place]
  return leg === undefined ? undefined : legs.with(place, { ...leg, answer })
}

/** Returns the meaning of the answers so far for the whole order. */
export function causeOfAnswers(legs: readonly RequestLeg[]): OrderCause {
  const answers = legs.map(({ answer }) => answer)
  if (answers.includes(undefined)) return 'answeredPartly'
  if (answers.some((answer) => answer?.kind === 'executed')) return 'executed'
  return answers.some((answer) => answer?.kind === 'refused') ? 'refused' : 'reclaimed'
}

export function unansweredOf(legs: readonly RequestLeg[]): readonly RequestLeg[] {
  return legs.filter(({ answer }) => answer === undefined)
}

/** Returns the block from which on the first unanswered request can be reclaimed; `null` when all are answered. */
export function timeoutBlockOf(legs: readonly RequestLeg[], timeoutBlocks: number): number | null {
  const blocks = unansweredOf(legs).map(({ createdBlock }) => createdBlock)
  return blocks.length === 0 ? null : Math.min(...blocks) + timeoutBlocks
}

/** Returns the fill of all legs together; `null` when nothing was traded. */
export function fillOf(answers: readonly RequestAnswer[]): Fill | null {
  const [first, ...others] = answers.flatMap((answer) => (answer.kind === 'executed' ? [answer.fill] : []))
  return first === undefined ? null : sumFills([first, ...others])
}

/** Returns the reason of the first refused leg. */
export function reasonOf(answers: readonly RequestAnswer[]): OrderReason | null {
  return answers.find((answer) => answer.kind === 'refused')?.reason ?? null
}

/**
 * Sums the fills of an order's legs, given in the order of the legs. The price is the average weighted by size,
 * truncated to the chain's precision; the position is that of the first leg; hash and time are those of the last
 * execution.
 */
export function sumFills(fills: readonly [Fill, ...Fill[]]): Fill {
  const [first] = fills
  if (fills.length === 1) return first
  const last = fills.reduce((latest, fill) => (fill.timestamp >= latest.timestamp ? fill : latest))
  return {
    price: averagePrice(fills),
    size: sum(fills.map(({ size }) => size)),
    collateral: sum(fills.map(({ collateral }) => collateral)),
    feeCollateral: sum(fills.map(({ feeCollateral }) => feeCollateral)),
    txHash: last.txHash,
    timestamp: last.timestamp,
    positionId: first.positionId,
  }
}

function averagePrice(fills: readonly [Fill, ...Fill[]]): Decimal {
  const places = mostPlaces(fills.map(({ size }) => size))
  let weightedPrice = 0n
  let weight = 0n
  for (const { price, size } of fills) {
    const scaledSize = scaleDecimalTruncated(size as Decimal, places)
    weightedPrice += Price.parseTruncated(price as Decimal) * scaledSize
    weight += scaledSize
  }
  // All sizes round to zero, so any of the prices will do.
  if (weight === 0n) return fills[0].price as Decimal
  return Price.format(Price.of(weightedPrice / weight))
}

function sum(values: readonly string[]): Decimal {
  const places = mostPlaces(values)
  const total = values.reduce((sofar, value) => sofar + scaleDecimalTruncated(value as Decimal, places), 0n)
  return formatDecimal(total, places)
}

function mostPlaces(values: readonly string[]): number {
  return Math.max(...values.map((value) => decimalPlaces(value as Decimal)))
}
