import type {
  ClosePositionRequest,
  Position,
  PreparedOrder,
  PreparedPosition,
  UpdatePositionRequest,
} from '@bezel/protocol/wire'
import { BezelApiError } from '../errors/serviceErrors.ts'
import type { Transport } from '../http/createTransport.ts'
import type { OrderExecution } from '../orders/createOrders.ts'
import { executeWrite, type VerifyOptions, type WriteSetup } from '../orders/executeWrite.ts'
import type { TrackedOrder } from '../orders/trackOrder.ts'

/** A change of a position that was sent. It makes no order: read the position again once it is mined. */
export interface SentPositionUpdate {
  /** The position when the change was prepared. */
  readonly position: Position
  readonly txHash: `0x${string}` | null
}

/** Open positions of the trader. Closing one creates an order. */
export interface Positions {
  /** Lists the open positions. */
  list(): Promise<Position[]>
  /** Reads an open position. Throws `POSITION_NOT_FOUND` when there is none. */
  get(id: string): Promise<Position>
  /** Prepares a close and sends nothing. */
  prepareClose(id: string, request?: ClosePositionRequest): Promise<PreparedOrder>
  /** Closes the position, or `size` of it, at the market. */
  close(id: string, request?: ClosePositionRequest, options?: VerifyOptions): Promise<TrackedOrder>
  /** Prepares a change of the position and sends nothing. */
  prepareUpdate(id: string, changes: UpdatePositionRequest): Promise<PreparedPosition>
  /** Changes `sl` and `tp`, or `leverage`, or `collateral` of the position. */
  update(id: string, changes: UpdatePositionRequest, options?: VerifyOptions): Promise<SentPositionUpdate>
}

/** Creates the positions part of a client. */
export function createPositions(
  transport: Transport,
  root: string,
  of: {
    readonly context: WriteSetup
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
