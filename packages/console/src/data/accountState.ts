import type { Account, AccountEvent, LogEvent, Order, OrderStatus, Position } from '@bezel/sdk'
import { computed, signal, type ReadonlySignal } from '@preact/signals'

/** Knowledge of an account, kept up to date by its log. */
export interface AccountState {
  readonly account: ReadonlySignal<Account | null>
  readonly positions: ReadonlySignal<readonly Position[] | null>
  /** Open orders, newest first. */
  readonly openOrders: ReadonlySignal<readonly Order[] | null>
  /** Orders of any state, newest first. */
  readonly recentOrders: ReadonlySignal<readonly Order[] | null>
  /** The last events of the log, oldest first. */
  readonly events: ReadonlySignal<readonly AccountEvent[]>
  /** Takes an event of the stream: a snapshot, or a change. */
  take(event: LogEvent): void
  /** Takes events and orders of the past. What the stream told already is newer and stays. */
  takePast(past: { readonly events: readonly AccountEvent[]; readonly orders: readonly Order[] }): void
  /** Forgets everything, as for another account. */
  clear(): void
}

/** Events that are kept, for timelines and reorganisations. */
const MAX_EVENTS = 500

/** Orders that are kept beside the open ones. */
const MAX_ENDED = 200

const OPEN: readonly OrderStatus[] = ['prepared', 'pending', 'open', 'timed_out']

/** Returns true for an order that is not over: prepared, pending, resting, or timed out and not reclaimed. */
export function isOpenOrder({ status }: Pick<Order, 'status'>): boolean {
  return OPEN.includes(status)
}

/** Creates the state of an account, which knows nothing at first. */
export function createAccountState(): AccountState {
  const account = signal<Account | null>(null)
  const positions = signal<readonly Position[] | null>(null)
  const orders = signal<ReadonlyMap<string, Order> | null>(null)
  const events = signal<readonly AccountEvent[]>([])
  const recentOrders = computed(() => (orders.value === null ? null : newestFirst([...orders.value.values()])))
  const openOrders = computed(() => recentOrders.value?.filter(isOpenOrder) ?? null)

  function takeOrder(order: Order): void {
    orders.value = bounded(new Map(orders.peek()).set(order.id, order))
  }

  /** The snapshot names all open orders, so one that was open and is not named has ended unseen. */
  function takeOpenOrders(open: readonly Order[]): void {
    const kept = [...(orders.peek()?.values() ?? [])].filter((order) => !isOpenOrder(order))
    orders.value = bounded(new Map([...kept, ...open].map((order) => [order.id, order])))
  }

  function takeState(event: LogEvent): void {
    switch (event.channel) {
      case 'orders':
        return event.snapshot ? takeOpenOrders(event.data) : takeOrder(event.data)
      case 'fills':
        return event.snapshot ? event.data.forEach(takeOlder) : takeOrder(event.data)
      case 'positions':
        return void (positions.value = event.data)
      case 'account':
        return void (account.value = event.data)
    }
  }

  function takeOlder(order: Order): void {
    const known = orders.peek()?.get(order.id)
    if (known === undefined || known.updatedAt < order.updatedAt) takeOrder(order)
  }

  return {
    account,
    positions,
    openOrders,
    recentOrders,
    events,
    take(event) {
      takeState(event)
      if (!event.snapshot) events.value = withEvents(events.peek(), [entryOf(event)])
    },
    takePast(past) {
      events.value = withEvents(events.peek(), past.events)
      const told = past.events.flatMap((event) => (event.channel === 'orders' ? [event.data] : []))
      for (const order of [...past.orders, ...told]) takeOlder(order)
    },
    clear() {
      account.value = null
      positions.value = null
      orders.value = null
      events.value = []
    },
  }
}

function newestFirst(orders: readonly Order[]): readonly Order[] {
  return orders.toSorted((a, b) => b.createdAt - a.createdAt || Number(b.id) - Number(a.id))
}

/** Drops the oldest ended orders above the limit. */
function bounded(orders: Map<string, Order>): ReadonlyMap<string, Order> {
  const ended = [...orders.values()].filter((order) => !isOpenOrder(order))
  for (const { id } of newestFirst(ended).slice(MAX_ENDED)) orders.delete(id)
  return orders
}

/** Returns the events of both lists by their numbers, each once, and of those the last ones. */
function withEvents(before: readonly AccountEvent[], more: readonly AccountEvent[]): readonly AccountEvent[] {
  const last = before.at(-1)?.seq ?? 0
  const isNext = more.every(({ seq }, place) => seq > (more[place - 1]?.seq ?? last))
  const all = isNext
    ? [...before, ...more]
    : [...new Map([...before, ...more].map((event) => [event.seq, event])).values()]
  return (isNext ? all : all.toSorted((a, b) => a.seq - b.seq)).slice(-MAX_EVENTS)
}

/** Returns a change in the shape of the log. */
function entryOf({ seq, channel, timestamp, block, reverted, data }: LogEvent): AccountEvent {
  // Taken apart, the channel no longer says which data it has.
  return { seq, channel, timestamp, block, reverted, data } as AccountEvent
}
