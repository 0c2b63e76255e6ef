import type { LeftOpen, Order, Position } from '@bezel/sdk'
import { formatAmount } from '../ground/format.ts'
import { kindWord, refusalOf, statusWord } from './words.ts'

/** A thing that a flatten ends. */
export interface EndedThing {
  readonly id: string
  readonly kind: 'position' | 'order'
  readonly words: string
  /** How it ends, in words: `closed at the market`. */
  readonly end: string
}

/** Names every open position and order that a flatten ends, orders first as they are ended first. */
export function flattenPlan(
  positions: readonly Position[],
  orders: readonly Order[],
  market: string | undefined,
): EndedThing[] {
  const isMeant = (thing: { readonly market: string }): boolean => market === undefined || thing.market === market
  return [
    ...orders.filter(isMeant).map((order): EndedThing => {
      const { id, side, size } = order
      const words = `${order.market} ${side} ${sizeText(size)}, ${kindWord(order).toLowerCase()} order`
      return { id, kind: 'order', words, end: endOf(order) }
    }),
    ...positions.filter(isMeant).map((position): EndedThing => {
      const { id, side, size, leverage } = position
      const words = `${position.market} ${side} ${sizeText(size)} at ${leverage}×`
      return { id, kind: 'position', words, end: 'closed at the market' }
    }),
  ]
}

function sizeText(size: string): string {
  return formatAmount(size, { decimals: 8 })
}

function endOf({ status }: Order): string {
  switch (status) {
    case 'timed_out':
      return 'reclaimed'
    case 'prepared':
      return 'withdrawn'
    case 'pending':
      return 'left to the oracle, then closed if it fills'
    default:
      return 'cancelled'
  }
}

/** Progress of a flatten: how many of its orders have ended. */
export interface FlattenProgress {
  readonly total: number
  readonly ended: number
}

const ENDED: readonly Order['status'][] = ['filled', 'rejected', 'canceled', 'expired', 'timed_out']

/** Counts the orders of a batch that have ended. `latest` has the newest state of those that changed since. */
export function progressOf(sent: readonly Order[], latest: ReadonlyMap<string, Order>): FlattenProgress {
  const now = sent.map((order) => latest.get(order.id) ?? order)
  return { total: sent.length, ended: now.filter(({ status }) => ENDED.includes(status)).length }
}

/** The things of a flatten that was interrupted, as they stand now. */
export interface FlattenStand {
  readonly ended: readonly EndedThing[]
  /** Things whose end was sent and waits for the chain or the oracle. */
  readonly sent: readonly EndedThing[]
  /** Things for which nothing was sent, also such as were opened since. */
  readonly left: readonly EndedThing[]
}

/** Finds out where a flatten stands whose page was reloaded. `things` are those that it was to end. */
export function standOf(
  things: readonly EndedThing[],
  {
    positions,
    orders,
    market,
  }: {
    readonly positions: readonly Position[]
    readonly orders: readonly Order[]
    readonly market: string | undefined
  },
): FlattenStand {
  const closes = closesOf(positions, orders)
  const closeIds = new Set([...closes.values()].map(({ id }) => id))
  // A close is the end of its position, and not one more thing to end.
  const others = orders.filter(({ id }) => !closeIds.has(id))
  const open = flattenPlan(positions, others, market)
  const isOpen = (thing: EndedThing): boolean => open.some(({ id, kind }) => id === thing.id && kind === thing.kind)
  const isSent = ({ id, kind }: EndedThing): boolean => {
    const end = kind === 'position' ? closes.get(id) : others.find((order) => order.id === id)
    return end !== undefined && isUnderWay(end)
  }
  return {
    ended: things.filter((thing) => !isOpen(thing) && !closeIds.has(thing.id)),
    sent: open.filter(isSent),
    left: open.filter((thing) => !isSent(thing)),
  }
}

/** Pairs positions with the closes that were prepared or sent for them. A close names no position, only its terms. */
function closesOf(positions: readonly Position[], orders: readonly Order[]): ReadonlyMap<string, Order> {
  const free = new Set(orders.filter((order) => order.reduceOnly && ['prepared', 'pending'].includes(order.status)))
  const closes = new Map<string, Order>()
  for (const position of positions) {
    const isClose = (order: Order): boolean =>
      order.market === position.market && order.side !== position.side && order.size === position.size
    const matching = [...free].filter(isClose)
    const close = matching.find(isUnderWay) ?? matching[0]
    if (close === undefined) continue
    free.delete(close)
    closes.set(position.id, close)
  }
  return closes
}

function isUnderWay({ status, txHash }: Order): boolean {
  return status === 'pending' || (status === 'prepared' && txHash !== null)
}

/** A thing that is still open after a flatten, with the reason. */
export interface Leftover {
  readonly id: string
  readonly words: string
}

/** Names what a flatten left open: what the service left out, and closes that were refused or not answered. */
export function leftoversOf(leftOut: readonly LeftOpen[], missed: readonly Order[]): Leftover[] {
  return [
    ...leftOut.map(({ id, message }) => ({ id, words: message })),
    ...missed.map((order) => {
      const refusal = refusalOf(order)
      const state = statusWord(order).word.toLowerCase()
      const why = refusal === null ? '' : ` ${refusal.cause}`
      return { id: order.id, words: `${order.market} ${order.side} ${sizeText(order.size)}: ${state}.${why}` }
    }),
  ]
}
