import type {
  ClosePositionRequest,
  Position,
  PreparedOrder,
  PreparedPosition,
  UpdatePositionRequest,
} from '@bezel/protocol/wire'
import { BezelApiError } from '../errors/bezelApiError.ts'
import type { Transport } from '../http/createTransport.ts'
import type { OrderExecution } from '../orders/createOrders.ts'
import { executeWrite, type VerifyOptions, type WriteContext } from '../orders/executeWrite.ts'
import type { TrackedOrder } from '../orders/trackOrder.ts'

/** A change that was sent. It makes no order: read the position again once it is mined. */
export interface SentPositionUpdate {
  /** As it was when the change was prepared. */
  readonly position: Position
  readonly txHash: `0x${string}` | null
}

/** Open positions. A close is an order of its own. */
export interface Positions {
  list(): Promise<Position[]>
  /** Throws `POSITION_NOT_FOUND`. */
  get(id: string): Promise<Position>
  prepareClose(id: string, request?: ClosePositionRequest): Promise<PreparedOrder>
  /** All of it, or `size` of it. */
  close(id: string, request?: ClosePositionRequest, options?: VerifyOptions): Promise<TrackedOrder>
  prepareUpdate(id: string, changes: UpdatePositionRequest): Promise<PreparedPosition>
  /** `sl` and `tp`, or `leverage`, or `collateral`. */
  update(id: string, changes: UpdatePositionRequest, options?: VerifyOptions): Promise<SentPositionUpdate>
}

export function createPositions(
  transport: Transport,
  root: string,
  of: {
    readonly context: WriteContext
    readonly list: () => Promise<Position[]>
    readonly execute: OrderExecution['execute']
  },
): Positions {
  const positions: Positions = {
    list: of.list,
    async get(id) {
      const found = (await of.list()).find((position) => position.id === id)
      if (found !== undefined) return found
      throw new BezelApiError({
        code: 'POSITION_NOT_FOUND',
        message: `This account has no open position ${id}.`,
        status: 404,
      })
    },
    prepareClose: (id, body = {}) =>
      transport.call({
        operationId: 'closePosition',
        method: 'POST',
        path: `${root}/positions/${id}/close`,
        body,
        auth: 'agent',
        retry: 'answered',
      }),
    prepareUpdate: (id, body) =>
      transport.call({
        operationId: 'updatePosition',
        method: 'PATCH',
        path: `${root}/positions/${id}`,
        body,
        auth: 'agent',
        retry: 'answered',
      }),
    async close(id, body = {}, options) {
      const request = { operation: 'closePosition', position: await positions.get(id), body } as const
      return of.execute(request, () => positions.prepareClose(id, body), options)
    },
    async update(id, body, options) {
      const request = { operation: 'updatePosition', position: await positions.get(id), body } as const
      const prepare = (): Promise<PreparedPosition> => positions.prepareUpdate(id, body)
      const { prepared, txHash } = await executeWrite(of.context, { request, prepare, options })
      return { position: prepared.position, txHash }
    },
  }
  return positions
}
