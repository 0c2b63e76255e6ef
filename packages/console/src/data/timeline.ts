import { ORDER_REASON_TEXTS, type AccountEvent, type Order } from '@bezel/protocol/wire'
import { formatAmount, formatPrice } from '../ground/format.ts'

/** The kinds of steps of an order. `reverted` is a reorganisation that took the step before it back. */
export type OrderStepKind =
  'prepared' | 'sent' | 'pending' | 'open' | 'filled' | 'rejected' | 'timed_out' | 'canceled' | 'expired' | 'reverted'

/** A step in the life of an order. */
export interface OrderStep {
  readonly kind: OrderStepKind
  /** Time in epoch milliseconds of the service. */
  readonly atMs: number
  /** A few words, for instance `Filled`. */
  readonly title: string
  /** A sentence with the numbers or the reason; null when the title says it all. */
  readonly detail: string | null
  /** Next thing to do; null when there is none. */
  readonly remedy: string | null
  readonly txHash: `0x${string}` | null
  /** Number of the block that caused it; null when none did, or it is not known. */
  readonly block: number | null
  /** True when a reorganisation took it back later. */
  readonly isTakenBack: boolean
  /** True for the last step, which holds now. */
  readonly isNow: boolean
}

/** A transaction that this page sent for an order. A wallet's is not reported, so the log does not tell it. */
export interface SentNote {
  readonly atMs: number
  readonly txHash: `0x${string}`
}

/** Parts from which the steps of an order are made. */
export interface TimelineParts {
  /** The order as it is now. */
  readonly order: Order
  /** Events of the account's log, oldest first, of any channel and order. */
  readonly events: readonly AccountEvent[]
  readonly sent?: SentNote | undefined
}

/**
 * Returns the steps of an order, oldest first. What the log does not reach back to is filled in from the order itself:
 * it was prepared when it was created, and sent before it was on the chain.
 */
export function composeTimeline({ order, events, sent }: TimelineParts): readonly OrderStep[] {
  const told = events.filter(
    (event) => event.channel === 'orders' && event.data.id === order.id,
  ) as readonly OrderTold[]
  const steps: OrderStep[] = []
  const add = (kind: OrderStepKind, of: Partial<OrderTold> & { readonly atMs: number }): void => {
    const last = steps.at(-1)
    if (last?.kind !== kind || kind === 'reverted')
      steps.push(stepOf(kind, of.data ?? order, of.atMs, of.block ?? null))
    // A later state of the same step knows more, for instance its hash.
    else steps[steps.length - 1] = { ...stepOf(kind, of.data ?? order, last.atMs, of.block ?? last.block) }
  }
  const has = (kind: OrderStepKind): boolean => steps.some((step) => step.kind === kind && !step.isTakenBack)
  if (order.clientId !== null || told[0]?.data.status === 'prepared') add('prepared', { atMs: order.createdAt })
  for (const event of [...told, { data: order, timestamp: order.updatedAt, block: null, reverted: false }]) {
    const { data, timestamp: atMs, block, reverted } = event
    if (reverted) {
      takeBack(steps, data.status)
      add('reverted', { data, atMs, block })
    }
    const isSent = data.txHash !== null || (sent !== undefined && sent.atMs <= atMs)
    if (!reverted && isSent && !has('sent') && data.status !== 'expired')
      add('sent', { data, atMs: Math.min(atMs, sent?.atMs ?? atMs) })
    if (data.status !== 'prepared') add(data.status, { data, atMs, block })
  }
  if (sent !== undefined && order.status === 'prepared' && !has('sent')) add('sent', { atMs: sent.atMs })
  return steps.map((step, place) => ({
    ...step,
    txHash: step.kind === 'sent' ? (step.txHash ?? sent?.txHash ?? null) : step.txHash,
    isNow: place === steps.length - 1,
  }))
}

/** An event of the log about an order. */
interface OrderTold {
  readonly data: Order
  readonly timestamp: number
  readonly block: number | null
  readonly reverted: boolean
}

/** The states in the order in which an order passes through them. */
const RANK: Readonly<Record<OrderStepKind, number>> = {
  prepared: 0,
  sent: 1,
  pending: 2,
  open: 3,
  timed_out: 4,
  filled: 5,
  rejected: 5,
  canceled: 5,
  expired: 5,
  reverted: -1,
}

/** Marks the steps beyond the state that holds after a reorganisation. */
function takeBack(steps: OrderStep[], now: Order['status']): void {
  steps.forEach((step, place) => {
    if (RANK[step.kind] > RANK[now]) steps[place] = { ...step, isTakenBack: true }
  })
}

function stepOf(kind: OrderStepKind, order: Order, atMs: number, block: number | null): OrderStep {
  const { title, detail = null, remedy = null } = WORDS[kind](order)
  const hash = kind === 'sent' ? order.txHash : kind === 'filled' ? order.fill?.txHash : null
  const txHash = (hash ?? null) as `0x${string}` | null
  return { kind, atMs, title, detail, remedy, txHash, block, isTakenBack: false, isNow: false }
}

interface Words {
  readonly title: string
  readonly detail?: string | null
  readonly remedy?: string | null
}

const WORDS: Readonly<Record<OrderStepKind, (order: Order) => Words>> = {
  prepared: () => ({ title: 'Prepared', detail: 'The service checked it and made its transaction.' }),
  sent: () => ({ title: 'Sent', detail: 'Its transaction is on the way to the chain.' }),
  pending: ({ type }) => ({
    title: 'Pending',
    detail: type === 'market' ? 'It is on the chain and waits for the price of the oracle.' : 'It waits for the chain.',
  }),
  open: ({ price }) => ({
    title: 'Resting',
    detail: price === null ? 'It waits on the chain.' : `It waits on the chain for the price ${formatPrice(price)}.`,
  }),
  filled: (order) => ({ title: 'Filled', detail: fillWords(order) }),
  rejected: ({ reason }) => refusalWords(reason),
  timed_out: () => ({
    title: 'Timed out',
    detail: 'The oracle did not answer in time, and the collateral is locked in the contracts.',
    remedy: 'Reclaim it, and the collateral comes back to the wallet.',
  }),
  canceled: () => ({ title: 'Cancelled', detail: 'It is gone, and its collateral is back in the wallet.' }),
  expired: () => ({ title: 'Expired', detail: 'Nothing was sent in time, or it was withdrawn. It cost nothing.' }),
  reverted: ({ status }) => ({
    title: 'Taken back',
    detail: `The chain was reorganised, and the order is ${STATE_WORDS[status]} again.`,
    remedy: 'Wait: it mostly goes on by itself within a few blocks.',
  }),
}

const STATE_WORDS: Readonly<Record<Order['status'], string>> = {
  prepared: 'prepared',
  pending: 'pending',
  open: 'resting',
  filled: 'filled',
  rejected: 'rejected',
  timed_out: 'timed out',
  canceled: 'cancelled',
  expired: 'expired',
}

function refusalWords(reason: Order['reason']): Words {
  const { cause, remedy } = ORDER_REASON_TEXTS[reason ?? 'NONE']
  return { title: 'Rejected', detail: `It was refused, because ${cause}.`, remedy: `${sentence(remedy)}.` }
}

function sentence(words: string): string {
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

/** Returns the numbers of a fill, as the tables show them; null while the order has none. */
function fillWords({ market, fill, collateral }: Order): string | null {
  if (fill === null) return null
  const size = formatAmount(fill.size, { decimals: SIZE_PLACES, symbol: market.split('/')[0] })
  return `${size} at ${formatPrice(fill.price)}, for a fee of ${formatAmount(fill.feeCollateral, { symbol: collateral })}.`
}

/** Places of a size, as the tables have them. */
const SIZE_PLACES = 8
