import type {
  ClosePositionRequest,
  NotificationList,
  Position,
  PreparedOrder,
  PreparedPosition,
  UpdatePositionRequest,
  Warning,
} from '@bezel/protocol/wire'
import type { AccountReads } from '../account/createAccount.ts'
import { BezelApiError } from '../errors/serviceErrors.ts'
import type { ApiCall, Transport } from '../http/createTransport.ts'
import type { OrderExecution } from '../orders/createOrders.ts'
import { executeWrite, type VerifyOptions, type WriteSetup } from '../orders/executeWrite.ts'
import type { TrackedOrder } from '../orders/trackOrder.ts'
import { UnverifiedTransactionError } from '../errors/transactionErrors.ts'
import type { WriteRequest } from '../verify/verifyContext.ts'
import { waitForUpdate, type UpdateWaitOptions } from './waitForUpdate.ts'

/** A change of a position that was sent. It makes no order. */
export interface SentPositionUpdate {
  /** The position when the change was prepared. */
  readonly position: Position
  readonly txHash: `0x${string}`
  /** Differences between what was asked and what will happen, as the service told them; usually none. */
  readonly warnings: readonly Warning[]
  /**
   * Waits until the change has taken effect and returns the position then. A change of `leverage` or `collateral` waits
   * for the oracle: throws `PositionUpdateRefusedError` when it was refused, `PositionUpdateTimedOutError` when it was
   * not answered in time, and `PositionUpdateWaitError` after the timeout of the wait.
   */
  wait(options?: UpdateWaitOptions): Promise<Position>
}

/** The reclaim of a change of a position, sent. */
export interface SentPositionReclaim {
  /** The position when the reclaim was prepared. */
  readonly position: Position
  readonly txHash: `0x${string}`
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
  /** Changes `sl` and `tp`, or `leverage`, or `collateral` of the position. Wait for its effect with `wait`. */
  update(id: string, changes: UpdatePositionRequest, options?: VerifyOptions): Promise<SentPositionUpdate>
  /**
   * Prepares the reclaim of a change that the oracle has not answered in time, and sends nothing. Works for a position
   * that was closed meanwhile too.
   */
  prepareCancelUpdate(id: string): Promise<PreparedPosition>
  /** Reclaims a change that the oracle has not answered in time: its collateral returns to the wallet. */
  cancelUpdate(id: string, options?: VerifyOptions): Promise<SentPositionReclaim>
}

/** Reads no event, only the number of the last one. */
const AT_END = { after: Number.MAX_SAFE_INTEGER, limit: 1 }

/** Creates the positions part of a client. */
export function createPositions(
  transport: Transport,
  root: string,
  of: {
    readonly context: WriteSetup
    readonly account: Pick<AccountReads, 'positions' | 'events'>
    readonly execute: OrderExecution['execute']
  },
): Positions {
  const { account, context } = of
  const write = <Answer>(call: Pick<ApiCall, 'operationId' | 'method' | 'path' | 'body'>): Promise<Answer> =>
    transport.call<Answer>({ ...call, path: `${root}/positions${call.path}`, auth: 'agent', retry: 'answered' })

  async function reasonOf(id: string, sinceMs: number): Promise<string | null> {
    const path = `/api/notifications/${await context.traderOf()}`
    const call = { operationId: 'listNotifications', method: 'GET', path, auth: 'none', retry: 'read' } as const
    const { notifications } = await transport.call<NotificationList>(call)
    const isIt = ({ type, positionId, createdAt }: (typeof notifications)[number]): boolean =>
      type === 'position_update_refused' && positionId === id && createdAt >= sinceMs
    return notifications.find(isIt)?.message ?? null
  }

  /** Sends a change. Unlike an order, it always has a transaction. */
  async function send(
    request: WriteRequest,
    prepare: () => Promise<PreparedPosition>,
    options: VerifyOptions | undefined,
  ): Promise<{ readonly prepared: PreparedPosition; readonly txHash: `0x${string}` }> {
    const { prepared, txHash } = await executeWrite(context, { request, prepare, options })
    if (txHash === null) throw new UnverifiedTransactionError('transaction', 'a transaction', 'none')
    return { prepared, txHash }
  }

  const positions: Positions = {
    list: account.positions,
    async get(id) {
      const found = (await account.positions()).find((position) => position.id === id)
      if (found !== undefined) return found
      throw new BezelApiError({
        code: 'POSITION_NOT_FOUND',
        message: `This account has no open position ${id}.`,
        status: 404,
      })
    },
    prepareClose: (id, body = {}) =>
      write({ operationId: 'closePosition', method: 'POST', path: `/${id}/close`, body }),
    prepareUpdate: (id, body) => write({ operationId: 'updatePosition', method: 'PATCH', path: `/${id}`, body }),
    prepareCancelUpdate: (id) =>
      write({ operationId: 'cancelPositionUpdate', method: 'DELETE', path: `/${id}/pending-update` }),
    async close(id, body = {}, options) {
      const request = { operation: 'closePosition', position: await positions.get(id), body } as const
      return of.execute(request, () => positions.prepareClose(id, body), options)
    },
    async update(id, body, options) {
      const [before, { lastSeq: after }] = await Promise.all([positions.get(id), account.events(AT_END)])
      const request = { operation: 'updatePosition', position: before, body } as const
      const prepare = (): Promise<PreparedPosition> => positions.prepareUpdate(id, body)
      const { prepared, txHash } = await send(request, prepare, options)
      const { position, warnings = [] } = prepared
      const isAsked = body.leverage !== undefined || body.collateral !== undefined
      const sent = { before, prepared: position, isAsked, txHash, after }
      const reads = { readPage: account.events, reasonOf }
      return { position, txHash, warnings, wait: (waiting) => waitForUpdate(sent, reads, waiting) }
    },
    async cancelUpdate(id, options) {
      const request = { operation: 'cancelPositionUpdate', position: await positions.get(id) } as const
      const { prepared, txHash } = await send(request, () => positions.prepareCancelUpdate(id), options)
      return { position: prepared.position, txHash }
    },
  }
  return positions
}
