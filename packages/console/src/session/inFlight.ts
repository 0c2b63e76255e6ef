import type { NewOrder, Order } from '@bezel/sdk'
import { computed, signal, type ReadonlySignal } from '@preact/signals'
import { readStored, writeStored, type KeyValueStore } from '../data/storage.ts'

/** An order whose outcome is not known yet. */
export interface InFlightOrder {
  readonly clientId: string
  readonly chain: string
  readonly trader: string
  readonly request: NewOrder
  /** `preparing`: nothing was sent. `sending`: the wallet was asked, and may still send it. `sent`: it has a hash. */
  readonly stage: 'preparing' | 'sending' | 'sent'
  readonly startedAtMs: number
  readonly orderId: string | null
  /** A sentence that says where it stands and what to do. */
  readonly message: string
}

/** The orders of a tab whose outcome is not known. They survive a reload. */
export interface InFlight {
  /** Orders of all accounts that may have been sent. */
  readonly unclear: ReadonlySignal<readonly InFlightOrder[]>
  /** All orders in flight, of all accounts. */
  readonly all: ReadonlySignal<readonly InFlightOrder[]>
  begin(entry: Pick<InFlightOrder, 'clientId' | 'chain' | 'trader' | 'request'>): void
  mark(clientId: string, change: Partial<Pick<InFlightOrder, 'stage' | 'orderId'>>): void
  end(clientId: string): void
  /** Finds an order with the same terms that may have been sent. */
  findTwin(of: Pick<InFlightOrder, 'chain' | 'trader' | 'request'>): InFlightOrder | undefined
}

const STORED = 'inFlight'

/** Greatest number of orders that are remembered. */
const MAX_KEPT = 20

/** Creates the memory of orders in flight. `now` is the time of the service. */
export function createInFlight(tab: KeyValueStore, now: () => number): InFlight {
  const stored = readStored(tab, STORED)
  const all = signal<readonly InFlightOrder[]>(Array.isArray(stored) ? (stored as readonly InFlightOrder[]) : [])
  function write(next: readonly InFlightOrder[]): void {
    all.value = next.slice(-MAX_KEPT)
    writeStored(tab, STORED, all.value)
  }
  const unclear = computed(() => all.value.filter(({ stage }) => stage !== 'preparing'))
  return {
    all,
    unclear,
    begin: (entry) =>
      write([
        ...all.peek(),
        { ...entry, stage: 'preparing', startedAtMs: now(), orderId: null, message: WORDS.preparing },
      ]),
    mark: (clientId, change) =>
      write(
        all.peek().map((entry) => {
          if (entry.clientId !== clientId) return entry
          const marked = { ...entry, ...change }
          return { ...marked, message: WORDS[marked.stage] }
        }),
      ),
    end: (clientId) => write(all.peek().filter((entry) => entry.clientId !== clientId)),
    findTwin({ chain, trader, request }) {
      const terms = termsOf(request)
      return unclear
        .peek()
        .find((entry) => entry.chain === chain && entry.trader === trader && termsOf(entry.request) === terms)
    },
  }
}

const WORDS: Readonly<Record<InFlightOrder['stage'], string>> = {
  preparing: 'Nothing was sent yet.',
  sending:
    'The wallet was asked to send it, and its answer is missing. If the wallet still asks, confirm or refuse there. It is looked for on the chain, and expires by itself if it was not sent; do not order it again before.',
  sent: 'It was sent and is on its way to the chain.',
}

/** Returns the terms of an order as text, so that equal ones can be found. */
function termsOf(request: NewOrder): string {
  const { clientId: _id, ...terms } = request
  return JSON.stringify(Object.entries(terms).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Returns a sentence about what became of an order; null while that is not known. */
export function outcomeOf(order: Order): { readonly tone: 'good' | 'info' | 'warn'; readonly words: string } | null {
  const named = `Order ${order.id} in ${order.market}`
  switch (order.status) {
    case 'prepared':
      return order.txHash === null ? null : { tone: 'info', words: `${named} was sent and waits for the chain.` }
    case 'expired':
      return { tone: 'info', words: `${named} was not sent, and has expired. Nothing was traded.` }
    case 'filled':
      return { tone: 'good', words: `${named} was placed once, and is filled.` }
    case 'pending':
    case 'open':
      return {
        tone: 'good',
        words: `${named} was placed once, and is ${order.status === 'open' ? 'resting' : 'pending'}.`,
      }
    case 'rejected':
      return { tone: 'warn', words: `${named} was placed once, and was rejected. Its timeline says why.` }
    case 'timed_out':
      return { tone: 'warn', words: `${named} was placed once, and timed out. Reclaim it under Orders.` }
    case 'canceled':
      return { tone: 'info', words: `${named} was placed once, and is cancelled.` }
  }
}

/** The error of an order that may have been sent, or was sent without the page hearing of it. */
export class OrderUnclearError extends Error {
  override readonly name = 'OrderUnclearError'
  readonly code = 'ORDER_UNCLEAR'
}
