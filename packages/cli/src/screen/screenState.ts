import type { Balance, LogEvent, Order, OrderStatus, Position, Price, PricesEvent, StreamStatus } from '@bezel/sdk'
import type { Typing } from '../output/advice.ts'
import type { ToldEvent } from './eventText.ts'

/** Everything that the screen shows. A frame is made from it and the size of the terminal alone. */
export interface ScreenState {
  /** The account as answers name it. */
  readonly account: string
  readonly chain: string
  /** The way in which commands are spelled that show what does not fit. */
  readonly typing: Typing
  /** Markets whose prices the user wants; `undefined` for all. */
  readonly chosen: readonly string[] | undefined
  readonly prices: ReadonlyMap<string, Price>
  /** The open positions; `undefined` until the service has told them. */
  readonly positions: readonly Position[] | undefined
  /** The open orders, newest first; `undefined` until the service has told them. */
  readonly orders: readonly Order[] | undefined
  readonly balances: readonly Balance[]
  /** The last events of the account, oldest first. */
  readonly log: readonly ToldEvent[]
  readonly connection: ConnectionState
  /** Clock in epoch milliseconds. */
  readonly nowMs: number
}

/** The state of the connection to the service. */
type ConnectionState =
  | { readonly state: 'connecting' | 'open' }
  /** `untilMs` is the time of the next attempt. */
  | { readonly state: 'waiting'; readonly reason: string; readonly untilMs: number }

/** Events that the screen keeps; more lines than the tallest terminal has. */
const MAX_LOG = 200

/** The statuses of orders that are over. One that timed out still locks its collateral. */
const ENDED: readonly OrderStatus[] = ['filled', 'rejected', 'canceled', 'expired']

/** Returns the screen before the service has told anything. */
export function emptyScreen(of: Pick<ScreenState, 'account' | 'chain' | 'typing' | 'chosen' | 'nowMs'>): ScreenState {
  return {
    ...of,
    prices: new Map(),
    positions: undefined,
    orders: undefined,
    balances: [],
    log: [],
    connection: { state: 'connecting' },
  }
}

/** Returns the screen after an event of the stream. */
export function withEvent(state: ScreenState, event: LogEvent | PricesEvent): ScreenState {
  if (event.channel === 'prices') return { ...state, prices: pricesAfter(state.prices, event) }
  const logged = event.snapshot ? state : withLogged(state, [event])
  switch (event.channel) {
    case 'orders':
      return { ...logged, orders: event.snapshot ? event.data : ordersAfter(state.orders ?? [], event.data) }
    case 'positions':
      return { ...logged, positions: event.data }
    case 'account':
      return { ...logged, balances: event.data.balances }
    case 'fills':
      return logged
  }
}

/** Returns the screen with more events in its log, in the order of their numbers and each once. */
export function withLogged(state: ScreenState, events: readonly ToldEvent[]): ScreenState {
  const bySeq = new Map([...state.log, ...events].map((event) => [event.seq, event]))
  const log = [...bySeq.values()].toSorted((a, b) => a.seq - b.seq).slice(-MAX_LOG)
  return { ...state, log }
}

/** Returns the screen after the connection has changed. */
export function withStatus(state: ScreenState, status: StreamStatus): ScreenState {
  switch (status.state) {
    case 'waiting': {
      const { reason, retryInMs } = status
      return { ...state, connection: { state: 'waiting', reason, untilMs: state.nowMs + retryInMs } }
    }
    case 'connecting':
      // An attempt after a lost connection still shows why it was lost.
      return status.attempt > 1 ? state : { ...state, connection: { state: 'connecting' } }
    case 'open':
      return { ...state, connection: { state: 'open' } }
    case 'closed':
      return state
  }
}

function pricesAfter(prices: ScreenState['prices'], { snapshot, data }: PricesEvent): ScreenState['prices'] {
  return new Map([...(snapshot ? [] : prices), ...data.map((price) => [price.market, price] as const)])
}

function ordersAfter(orders: readonly Order[], changed: Order): readonly Order[] {
  const place = orders.findIndex(({ id }) => id === changed.id)
  const isOver = ENDED.includes(changed.status)
  if (place < 0) return isOver ? orders : [changed, ...orders]
  return isOver ? orders.toSpliced(place, 1) : orders.with(place, changed)
}
