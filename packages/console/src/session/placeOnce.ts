import {
  BroadcastError,
  isBezelError,
  type BezelClient,
  type NewOrder,
  type Order,
  type TrackedOrder,
  type VerifiedOrder,
} from '@bezel/sdk'
import { AccountChangedError } from './createSession.ts'
import { OrderUnclearError, outcomeOf, type InFlight } from './inFlight.ts'

/** Parts that placing an order once needs. */
export interface PlaceParts {
  readonly client: BezelClient
  readonly trader: string
  readonly inFlight: InFlight
  readonly newClientId: () => string
  /** Notes which order a transaction that is sent now is for. */
  readonly expectSending: (clientId: string | null) => void
  /** Told the order that was sent. */
  readonly onPlaced: (order: TrackedOrder) => void
  readonly wait: (ms: number) => Promise<void>
}

/** Looks for an order whose sending had no answer. A block is mined in a fraction of that. */
const LOOKS = 8
const LOOK_MS = 1_000

/**
 * Returns a client whose orders are placed at most once: each has a `clientId` that is kept until its outcome is known,
 * and after a lost answer the order is looked for instead of sent again.
 */
export function placingOnce(parts: PlaceParts): BezelClient {
  const { client, inFlight } = parts
  const begin = async (request: NewOrder): Promise<NewOrder & { readonly clientId: string }> => {
    await refuseTwin(parts, request)
    const clientId = request.clientId ?? parts.newClientId()
    const named = { ...request, clientId }
    inFlight.begin({ clientId, chain: client.chain, trader: parts.trader, request: named })
    return named
  }
  const send = async (clientId: string, run: () => Promise<TrackedOrder>): Promise<TrackedOrder> => {
    parts.expectSending(clientId)
    try {
      const order = await run()
      inFlight.end(clientId)
      parts.onPlaced(order)
      return order
    } catch (error) {
      return await recover(parts, clientId, error)
    } finally {
      parts.expectSending(null)
    }
  }
  return {
    ...client,
    orders: {
      ...client.orders,
      async create(request, options) {
        const named = await begin(request)
        return send(named.clientId, () => client.orders.create(named, options))
      },
      async prepareVerified(request, options): Promise<VerifiedOrder> {
        const named = await begin(request)
        const { clientId } = named
        try {
          const verified = await client.orders.prepareVerified(named, options)
          inFlight.mark(clientId, { orderId: verified.order.id })
          return { ...verified, send: () => send(clientId, () => verified.send()) }
        } catch (error) {
          inFlight.end(clientId)
          throw error
        }
      },
    },
    positions: {
      ...client.positions,
      async close(id, body, options) {
        const order = await client.positions.close(id, body, options)
        parts.onPlaced(order)
        return order
      },
    },
  }
}

/** Returns the order that a failed call has placed nevertheless. Throws when it was not placed, or may have been. */
async function recover(parts: PlaceParts, clientId: string, error: unknown): Promise<TrackedOrder> {
  const { inFlight, client } = parts
  const stage = inFlight.all.peek().find((entry) => entry.clientId === clientId)?.stage ?? 'preparing'
  if (stage === 'preparing' || isUnsent(error)) {
    inFlight.end(clientId)
    throw error
  }
  for (let look = 0; look < LOOKS; look += 1) {
    const order = await lookUp(client, clientId)
    if (order === null) break
    const isPlaced = order !== undefined && (outcomeOf(order) !== null || stage === 'sent')
    if (isPlaced && order.status !== 'expired') {
      inFlight.end(clientId)
      return client.orders.track(order)
    }
    await parts.wait(LOOK_MS)
  }
  const message =
    'The answer to the transaction was lost, so it may have been sent. It is looked for on the chain; do not order again before it appears under Orders or has expired there.'
  throw new OrderUnclearError(message, { cause: error })
}

/** Returns true for an error of a sender after which surely nothing was sent. */
function isUnsent(error: unknown): boolean {
  if (!(error instanceof BroadcastError)) return false
  return error.reason !== 'unknown' || error.cause instanceof AccountChangedError
}

/** Throws when an order with the same terms may have been sent, or was sent unseen. */
async function refuseTwin({ inFlight, client, trader }: PlaceParts, request: NewOrder): Promise<void> {
  const twin = inFlight.findTwin({ chain: client.chain, trader, request })
  if (twin === undefined) return
  const order = await lookUp(client, twin.clientId)
  const outcome = order === undefined || order === null ? null : outcomeOf(order)
  if (order === undefined || (order !== null && outcome === null)) {
    throw new OrderUnclearError(`The same order may be on its way already. ${twin.message}`)
  }
  inFlight.end(twin.clientId)
  if (order === null || order.status === 'expired') return
  throw new OrderUnclearError(`${outcome?.words ?? ''} Nothing was ordered now. Order again if you want a second one.`)
}

/** Returns the order of a `clientId`, null when the service has none, and undefined when it can't be asked. */
export async function lookUp(client: Pick<BezelClient, 'orders'>, clientId: string): Promise<Order | null | undefined> {
  try {
    return await client.orders.getByClientId(clientId)
  } catch (error) {
    return isBezelError(error) && error.code === 'ORDER_NOT_FOUND' ? null : undefined
  }
}
