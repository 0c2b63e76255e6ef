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
      const words = `${position.market} ${side} ${sizeText(size)} at ${leverage}x`
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
