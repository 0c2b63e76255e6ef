import type { ClosePositionRequest, OrderPreview, PositionPreview, UpdatePositionRequest } from '@bezel/protocol/wire'
import { queryOf, type Transport } from '../http/createTransport.ts'
import type { NewOrder } from '../orders/newOrder.ts'

/** Options of a preview. */
export interface PreviewOptions {
  /** True to simulate the transaction on the latest block too. Default false: no node is asked. */
  readonly simulate?: boolean
  /** Agent whose delegation, scope and spend are judged. Default: the client's own agent, if it has one. */
  readonly agent?: `0x${string}`
}

/**
 * Previews of what a write would cost and do now. Nothing is made or stored, so a read-only key is enough. A refusal by
 * a rule of the service, or for a stop on the wrong side of the order's price, is an error here too. Conditions that
 * the account or the agent lacks are in `missing`, the reason of a later refusal by the contracts is in `reason`.
 * An agent that signs must be the trader's delegate already; to a key that names an `agent`, `missing` lists that too.
 */
export interface Preview {
  /** Previews an order. Takes the request that `orders.create` takes; its `clientId` has no meaning here. */
  order(request: NewOrder, options?: PreviewOptions): Promise<OrderPreview>
  /** Previews the close of a position, or of `size` of it. */
  close(id: string, request?: ClosePositionRequest, options?: PreviewOptions): Promise<OrderPreview>
  /** Previews a change of a position: of `sl` and `tp`, or of `leverage`, or of `collateral`. */
  position(id: string, changes: UpdatePositionRequest, options?: PreviewOptions): Promise<PositionPreview>
}

/** Creates the previews of a client. `ownAgent` is the address of its agent, if it has one. */
export function createPreview(
  transport: Transport,
  root: string,
  of: { readonly traderOf: () => string; readonly ownAgent: `0x${string}` | undefined },
): Preview {
  async function read<Answer>(
    operationId: string,
    path: string,
    fields: Readonly<Record<string, string | boolean | undefined>>,
    { simulate = false, agent = of.ownAgent }: PreviewOptions = {},
  ): Promise<Answer> {
    const query = queryOf(textsOf({ ...fields, simulate: simulate ? true : undefined, agent }))
    const full = `${root}/account/${of.traderOf()}/preview/${path}${query}`
    return transport.call<Answer>({ operationId, method: 'GET', path: full, auth: 'read', retry: 'read' })
  }

  return {
    order: (request, options) => read('previewOrder', 'order', { ...request, clientId: undefined }, options),
    close: (id, { size, slippage } = {}, options) => read('previewClose', `close/${id}`, { size, slippage }, options),
    position(id, { sl, tp, leverage, collateral }, options) {
      const amount = collateral === undefined ? {} : { [`${collateral.action}Collateral`]: collateral.amount }
      return read('previewPosition', `position/${id}`, { sl, tp, leverage, ...amount }, options)
    },
  }
}

function textsOf(fields: Readonly<Record<string, string | boolean | undefined>>): Record<string, string | undefined> {
  const texts = Object.entries(fields).map(([name, value]) => [name, value === undefined ? undefined : String(value)])
  return Object.fromEntries(texts) as Record<string, string | undefined>
}
