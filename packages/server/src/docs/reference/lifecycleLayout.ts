import type { OrderStanding } from '../../trading/orders/orderTransitions.ts'

export interface Point {
  readonly x: number
  readonly y: number
}

/** How an arrow between two statuses runs, where a straight one would not do. */
export interface Route {
  /** Sideways, seen in the direction of the arrow: to the left of it when positive. */
  readonly bend?: number
  /** Round corners instead of a bend. */
  readonly via?: readonly Point[]
  /** Where on the arrow its words stand, 0 to 1. */
  readonly labelAt?: number
}

export const DIAGRAM_SIZE = { width: 960, height: 600 } as const
export const BOX_SIZE = { width: 130, height: 48 } as const

/** Middles of the boxes. A status that is new does not compile before it has a place. */
export const STATUS_PLACES: Readonly<Record<Exclude<OrderStanding, 'absent'>, Point>> = {
  prepared: { x: 130, y: 280 },
  pending: { x: 420, y: 180 },
  open: { x: 420, y: 400 },
  rejected: { x: 780, y: 90 },
  timed_out: { x: 780, y: 200 },
  filled: { x: 780, y: 310 },
  canceled: { x: 780, y: 430 },
  expired: { x: 130, y: 500 },
}

/** By `from to`. An arrow that is not named here is drawn with a slight bend. */
export const ROUTES: Readonly<Record<string, Route>> = {
  'prepared rejected': {
    via: [
      { x: 130, y: 40 },
      { x: 780, y: 40 },
    ],
    labelAt: 0.5,
  },
  'timed_out canceled': {
    via: [
      { x: 900, y: 200 },
      { x: 900, y: 430 },
    ],
    labelAt: 0.5,
  },
  'expired rejected': {
    via: [
      { x: 130, y: 570 },
      { x: 936, y: 570 },
      { x: 936, y: 90 },
    ],
  },
}

/** The ways that orders usually take; the others are drawn faintly. */
export const USUAL_WAYS: ReadonlySet<string> = new Set([
  'prepared pending',
  'prepared open',
  'prepared expired',
  'prepared rejected',
  'pending open',
  'pending filled',
  'pending rejected',
  'pending timed_out',
  'open filled',
  'open canceled',
  'timed_out canceled',
])
