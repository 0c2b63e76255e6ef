import type { Order } from '@bezel/sdk'
import { effect, untracked, type ReadonlySignal } from '@preact/signals'
import { outcomeOf, type InFlight, type InFlightOrder } from './inFlight.ts'

/** Parts that following the orders in flight needs. */
export interface FollowParts {
  readonly inFlight: InFlight
  /** The account whose orders are known; null while none is. */
  readonly account: ReadonlySignal<{ readonly chain: string; readonly trader: string } | null>
  /** Orders of that account; null until they are known. */
  readonly orders: ReadonlySignal<readonly Order[] | null>
  /** Returns true while an action of this page places the order, which then tells its outcome itself. */
  readonly isPlacing: (clientId: string) => boolean
  /** Returns the order of a `clientId`, null when there is none, and undefined when nobody answers. */
  readonly lookUp: (clientId: string) => Promise<Order | null | undefined>
  readonly tell: (told: Told) => void
}

interface Told {
  readonly tone: 'good' | 'info' | 'warn'
  readonly title: string
  readonly body: string
  readonly key: string
}

/**
 * Follows the orders whose outcome is not known, and says what became of them: those of before a reload, and those
 * whose answer was lost. Returns how to stop.
 */
export function followInFlight(parts: FollowParts): () => void {
  const { inFlight, account, orders } = parts
  const ofBefore = new Set(inFlight.all.peek().map(({ clientId }) => clientId))
  return effect(() => {
    const [known, owner, entries] = [orders.value, account.value, inFlight.all.value]
    if (known === null || owner === null) return
    const own = entries.filter(({ chain, trader }) => chain === owner.chain && trader === owner.trader)
    untracked(() => {
      for (const entry of own) {
        const isOld = ofBefore.delete(entry.clientId)
        if (parts.isPlacing(entry.clientId)) continue
        if (entry.stage !== 'preparing') void look(parts, entry, known, isOld)
        else if (isOld) endUnsent(parts, entry)
      }
    })
  })
}

/** Looks for an order in the lists of the account, and asks for one of before a reload that is not there. */
async function look(parts: FollowParts, entry: InFlightOrder, known: readonly Order[], isOld: boolean): Promise<void> {
  const listed = known.find(({ clientId }) => clientId === entry.clientId)
  const order = listed ?? (isOld ? await parts.lookUp(entry.clientId) : undefined)
  if (order === null) endUnsent(parts, entry)
  else if (order !== undefined) settle(parts, entry, order)
}

function settle({ inFlight, tell }: FollowParts, { clientId }: InFlightOrder, order: Order): void {
  const outcome = outcomeOf(order)
  if (outcome === null) return
  inFlight.end(clientId)
  const { tone, words: body } = outcome
  tell({ tone, key: `order-${order.id}`, title: 'What became of your order', body })
}

/** Forgets an order that was not sent. What was prepared of it expires by itself. */
function endUnsent({ inFlight, tell }: FollowParts, { clientId }: InFlightOrder): void {
  inFlight.end(clientId)
  const body = 'The page was reloaded before your order was sent. Nothing was sent; order again if you still want it.'
  tell({ tone: 'info', key: `order-${clientId}`, title: 'Order not sent', body })
}
