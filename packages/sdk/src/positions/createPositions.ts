import type {
  ClosePositionRequest,
  Notification,
  Position,
  PreparedOrder,
  PreparedPosition,
  UpdatePositionRequest,
  Warning,
} from '@bezel/protocol/wire'
import type { AccountReads, PositionFilter } from '../account/createAccount.ts'
import type { ApiCall, Transport } from '../http/createTransport.ts'
import type { Notifications } from '../notifications/createNotifications.ts'
import type { Batches } from '../orders/createBatches.ts'
import type { OrderExecution } from '../orders/createOrders.ts'
import { executeWrite, type VerifyOptions, type WriteSetup } from '../orders/executeWrite.ts'
import type { TrackedOrder } from '../orders/trackOrder.ts'
import { UnverifiedTransactionError } from '../errors/transactionErrors.ts'
import type { WriteRequest } from '../verify/verifyContext.ts'
import { waitForReclaim, waitForUpdate, type UpdateWaitOptions } from './waitForUpdate.ts'

/** A change of a position that was sent. It makes no order. */
export interface SentPositionUpdate {
  /** The position when the change was prepared. */
  readonly position: Position
  /** Hash of the transaction that was sent. */
  readonly txHash: `0x${string}`
  /** Differences between what was asked and what will happen, as the service told them; usually none. */
  readonly warnings: readonly Warning[]
  /**
   * Waits until the change has taken effect and returns the position then. A change of `leverage` or `collateral` waits
   * for the oracle: throws `PositionUpdateRefusedError` when it was refused, `PositionUpdateTimedOutError` when it was
   * not answered in time, `TransactionRevertedError` when the transaction reverted, and `PositionUpdateWaitError` after
   * the timeout of the wait.
   */
  wait(options?: UpdateWaitOptions): Promise<Position>
}

/** The reclaim of a change of a position, sent. */
export interface SentPositionReclaim {
  /** The position when the reclaim was prepared. */
  readonly position: Position
  /** Hash of the transaction that was sent. */
  readonly txHash: `0x${string}`
  /**
   * Waits until the change is gone: reclaimed, or answered after all. Returns the position then; `undefined` once it is
   * closed. Throws `TransactionRevertedError` when the transaction reverted, and `PositionUpdateWaitError` after the
   * timeout of the wait.
   */
  wait(options?: UpdateWaitOptions): Promise<Position | undefined>
}

/** Open positions of the trader. Closing one creates an order. */
export interface Positions {
  /** Lists the open positions, oldest first: all of them, or those that the filter selects. */
  list(filter?: PositionFilter): Promise<Position[]>
  /** Reads an open position. Throws `POSITION_NOT_FOUND` when there is none. */
  get(id: string): Promise<Position>
  /** Prepares a close and sends nothing. */
  prepareClose(id: string, request?: ClosePositionRequest): Promise<PreparedOrder>
  /** Closes the position, or `size` of it, at the market. Wait for the fill with `wait`. */
  close(id: string, request?: ClosePositionRequest, options?: VerifyOptions): Promise<TrackedOrder>
  /** Prepares one page of the close of all positions and sends nothing. `next` leads to the following page. */
  prepareCloseAll: Batches['prepareCloseAll']
  /** Closes all positions, or those of a market, at the market. One that can't be closed is left out and named. */
  closeAll: Batches['closeAll']
  /** Prepares a change of the position and sends nothing. */
  prepareUpdate(id: string, changes: UpdatePositionRequest): Promise<PreparedPosition>
  /** Changes `sl` and `tp`, or `leverage`, or `collateral` of the position. Wait for its effect with `wait`. */
  update(id: string, changes: UpdatePositionRequest, options?: VerifyOptions): Promise<SentPositionUpdate>
  /**
   * Prepares the reclaim of a change that the oracle has not answered in time, and sends nothing. Works for a position
   * that was closed meanwhile too.
   */
  prepareCancelUpdate(id: string): Promise<PreparedPosition>
  /**
   * Reclaims a change that the oracle has not answered in time: its collateral returns to the wallet. Wait for it with
   * `wait`.
   */
  cancelUpdate(id: string, options?: VerifyOptions): Promise<SentPositionReclaim>
}

/** Everything that the writes of positions share. */
interface PositionParts {
  readonly context: WriteSetup
  readonly account: Pick<AccountReads, 'positions' | 'events'>
  readonly notifications: Pick<Notifications, 'list'>
  readonly execute: OrderExecution['execute']
  readonly batches: Pick<Batches, 'prepareCloseAll' | 'closeAll'>
}

/** Creates the positions part of a client. */
export function createPositions(transport: Transport, root: string, parts: PositionParts): Positions {
  const { account, execute, batches } = parts
  const { watchRevert } = parts.context.broadcaster
  const { prepareCloseAll, closeAll } = batches
  const prepares = createPrepares(transport, root)
  const get = (id: string): Promise<Position> =>
    transport.call({
      operationId: 'getPosition',
      method: 'GET',
      path: `${root}/positions/${id}`,
      auth: 'read',
      retry: 'read',
    })
  return {
    list: account.positions,
    get,
    ...prepares,
    prepareCloseAll,
    closeAll,
    async close(id, body = {}, options) {
      const request = { operation: 'closePosition', position: await get(id), body } as const
      return execute(request, () => prepares.prepareClose(id, body), options)
    },
    async update(id, body, options) {
      const asked = (before: Position): Asked => ({
        request: { operation: 'updatePosition', position: before, body },
        prepare: () => prepares.prepareUpdate(id, body),
      })
      const { before, after, prepared, txHash } = await send(parts, get(id), asked, options)
      const { position, warnings = [] } = prepared
      const isAsked = body.leverage !== undefined || body.collateral !== undefined
      const sent = { before, after, prepared: position, isAsked, txHash, watchRevert }
      const reads = { readPage: account.events, reasonOf: reasonReader(parts) }
      return { position, txHash, warnings, wait: (waiting) => waitForUpdate(sent, reads, waiting) }
    },
    async cancelUpdate(id, options) {
      const asked = (before: Position): Asked => ({
        request: { operation: 'cancelPositionUpdate', position: before },
        prepare: () => prepares.prepareCancelUpdate(id),
      })
      const { prepared, ...of } = await send(parts, get(id), asked, options)
      const sent = { ...of, watchRevert }
      const wait: SentPositionReclaim['wait'] = (waiting) => waitForReclaim(sent, account.events, waiting)
      return { position: prepared.position, txHash: sent.txHash, wait }
    },
  }
}

/** Creates the calls that prepare something about a position and send nothing. */
function createPrepares(
  transport: Transport,
  root: string,
): Pick<Positions, 'prepareClose' | 'prepareUpdate' | 'prepareCancelUpdate'> {
  const write = <Answer>(call: Pick<ApiCall, 'operationId' | 'method' | 'path' | 'body'>): Promise<Answer> =>
    transport.call<Answer>({ ...call, path: `${root}/positions${call.path}`, auth: 'agent', retry: 'answered' })
  return {
    prepareClose: (id, body = {}) =>
      write({ operationId: 'closePosition', method: 'POST', path: `/${id}/close`, body }),
    prepareUpdate: (id, body) => write({ operationId: 'updatePosition', method: 'PATCH', path: `/${id}`, body }),
    prepareCancelUpdate: (id) =>
      write({ operationId: 'cancelPositionUpdate', method: 'DELETE', path: `/${id}/pending-update` }),
  }
}

/** A change of a position as it was asked for. */
interface Asked {
  readonly request: WriteRequest
  readonly prepare: () => Promise<PreparedPosition>
}

/** A change of a position that was sent, with the position and the end of the account's log before it. */
interface Sent {
  readonly before: Position
  readonly after: number
  readonly prepared: PreparedPosition
  readonly txHash: `0x${string}`
}

/** Reads no event, only the number of the last one. */
const AT_END = { after: Number.MAX_SAFE_INTEGER, limit: 1 }

/** Sends a change. Unlike an order, it always has a transaction. */
async function send(
  { context, account }: PositionParts,
  reading: Promise<Position>,
  askedOf: (before: Position) => Asked,
  options: VerifyOptions | undefined,
): Promise<Sent> {
  const [before, { lastSeq: after }] = await Promise.all([reading, account.events(AT_END)])
  const { prepared, txHash } = await executeWrite(context, { ...askedOf(before), options })
  if (txHash === null) throw new UnverifiedTransactionError('transaction', 'a transaction', 'none')
  return { before, after, prepared, txHash }
}

/** Returns the reader of the reason of a refusal, which only the service's notice tells in words. */
function reasonReader({ notifications }: PositionParts): (id: string, sinceMs: number) => Promise<string | null> {
  return async (id, sinceMs) => {
    const isIt = ({ type, positionId, createdAt }: Notification): boolean =>
      type === 'position_update_refused' && positionId === id && createdAt >= sinceMs
    return (await notifications.list()).find(isIt)?.message ?? null
  }
}
