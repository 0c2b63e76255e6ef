import type { Fill, OrderReason } from '@bezel/protocol'
import type { OrderCause } from './orderTransitions.ts'
import type { OrderEvent } from './orderModel.ts'
import { sumFills } from './sumFills.ts'

export type Answer = Extract<OrderEvent, { kind: 'executed' | 'refused' | 'reclaimed' }>

/** A request to the oracle, and what came of it. */
export interface RequestLeg {
  readonly pendingIndex: number
  readonly createdBlock: number
  readonly answer: Answer | undefined
}

/** The legs with `answer` in its place; `undefined` when no leg waits for it. */
export function withAnswer(legs: readonly RequestLeg[], answer: Answer): readonly RequestLeg[] | undefined {
  const place = legs.findIndex((leg) => leg.pendingIndex === answer.pendingIndex && leg.answer === undefined)
  const leg = legs[place]
  return leg === undefined ? undefined : legs.with(place, { ...leg, answer })
}

/** What the answers so far mean for the whole order. */
export function causeOfAnswers(legs: readonly RequestLeg[]): OrderCause {
  const answers = legs.map(({ answer }) => answer)
  if (answers.includes(undefined)) return 'answeredPartly'
  if (answers.some((answer) => answer?.kind === 'executed')) return 'executed'
  return answers.some((answer) => answer?.kind === 'refused') ? 'refused' : 'reclaimed'
}

export function unansweredOf(legs: readonly RequestLeg[]): readonly RequestLeg[] {
  return legs.filter(({ answer }) => answer === undefined)
}

/** From this block on the first of the unanswered ones can be reclaimed; `null` when all are answered. */
export function timeoutBlockOf(legs: readonly RequestLeg[], timeoutBlocks: number): number | null {
  const blocks = unansweredOf(legs).map(({ createdBlock }) => createdBlock)
  return blocks.length === 0 ? null : Math.min(...blocks) + timeoutBlocks
}

/** What the legs traded together. */
export function fillOf(answers: readonly Answer[]): Fill | null {
  const [first, ...others] = answers.flatMap((answer) => (answer.kind === 'executed' ? [answer.fill] : []))
  return first === undefined ? null : sumFills([first, ...others])
}

/** Of the first leg that was refused. */
export function reasonOf(answers: readonly Answer[]): OrderReason | null {
  return answers.find((answer) => answer.kind === 'refused')?.reason ?? null
}
