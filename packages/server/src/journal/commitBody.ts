import type { Address, ChainSlug, OrderId, OrderStatus } from '@bezel/protocol'
import type { ApiKeyRecord } from '../store/apiKeyStore.ts'
import { findFill } from '../store/fillStore.ts'
import { findOrder } from '../store/orderStore.ts'
import { batchReads } from '../store/pointReads.ts'
import { findPosition } from '../store/positionStore.ts'
import { fromExactJson, toExactJson, type Sql } from '../store/sql.ts'
import type { AgentRecord } from '../trading/agentRecord.ts'
import type { OrderRecord, OrderState } from '../trading/orders/orderModel.ts'
import type { PositionRecord, PositionState } from '../trading/positions/positionModel.ts'
import type { Cause, Changes, LoggedFill } from './changes.ts'

/** A change of who may act for whom: an agent's record, a registration that ended, or an API key that was issued. */
export type RightsChange =
  | { readonly kind: 'agent'; readonly record: AgentRecord; readonly before?: AgentRecord | undefined }
  | { readonly kind: 'gone'; readonly gone: AgentRecord | ApiKeyRecord }
  | { readonly kind: 'key'; readonly key: Pick<ApiKeyRecord, 'chain' | 'keyHash'> }

/** The news of a transaction for whoever keeps something in memory. */
export interface CommitNews {
  readonly changes?: Changes
  /** Traders whose logs have new events. */
  readonly woken?: readonly Address[]
  readonly rights?: readonly RightsChange[]
  /** A step of the follower, as text of its own. */
  readonly step?: string | undefined
}

/** An order that a commit changed. */
interface CommittedOrder {
  readonly record: Pick<OrderRecord, 'id' | 'trader'>
  readonly before: Pick<OrderState, 'status'> | undefined
  readonly after: Pick<OrderState, 'status'> | undefined
}

/** A changed order whose whole state is at hand. */
interface WholeOrder {
  readonly record: Pick<OrderRecord, 'id'>
  readonly after: OrderState | undefined
}

/** The changes of a commit. What is read of another node's commit may be newer than the commit, never older. */
export interface CommitChanges extends Pick<Changes, 'chain' | 'cause' | 'fills'> {
  readonly orders: readonly CommittedOrder[]
  readonly positions: readonly { readonly record: PositionRecord; readonly after: PositionState | undefined }[]
  /** At least those of the changed orders that somebody in this process waits for. */
  readonly awaited: readonly WholeOrder[]
}

/** A commit as it is applied to what is in memory. */
export interface Commit {
  /** Time of the commit, epoch ms. */
  readonly atMs: number
  /** False for one that was read: another node's, or an own one whose answer was lost. */
  readonly isOwn: boolean
  /** `undefined` when no order and no position changed. */
  readonly changes: CommitChanges | undefined
  readonly woken: readonly Address[]
  readonly rights: readonly RightsChange[]
  /** A step of the follower, as text of its own; `undefined` when there is none. */
  readonly step: string | undefined
}

/** The version of the bodies. A node reads everything again after a commit whose body it can't read. */
const VERSION = 1

/**
 * The body of a commit: the names of what changed, which is read where it is needed, so that a commit does not store
 * everything twice. Rights are there as a whole: they are few, and have to be known at once.
 */
interface Body {
  readonly version: typeof VERSION
  readonly atMs: number
  readonly cause: Cause | null
  readonly orders: readonly (readonly [OrderId, Address, OrderStatus | null, OrderStatus | null])[]
  readonly positions: readonly (readonly [OrderId, Address])[]
  readonly fills: readonly number[]
  readonly woken: readonly Address[]
  readonly rights: readonly RightsChange[]
  readonly step?: string | undefined
}

/** Returns the body of a commit as text. */
export function bodyOf(atMs: number, { changes, woken = [], rights = [], step }: CommitNews): string {
  const body: Body = {
    version: VERSION,
    atMs,
    cause: changes?.cause ?? null,
    orders: (changes?.orders ?? []).map(({ record, before, after }) => [
      record.id,
      record.trader,
      before?.status ?? null,
      after?.status ?? null,
    ]),
    positions: (changes?.positions ?? []).map(({ record }) => [record.id, record.trader]),
    fills: (changes?.fills ?? []).map(({ fill }) => fill.id),
    woken,
    rights,
    step,
  }
  return toExactJson(body)
}

/** Returns an own commit, whose changes are all at hand. */
export function ownCommit(atMs: number, { changes, woken = [], rights = [], step }: CommitNews): Commit {
  const whole = changes && { ...changes, awaited: changes.orders }
  return { atMs, isOwn: true, changes: whole, woken, rights, step }
}

/** Reads the commits of other nodes, with the present state of what they changed. Throws when a body can't be read. */
export async function readCommits(
  sql: Sql,
  { bodies, ...of }: ReadOptions & { readonly bodies: readonly string[] },
): Promise<Commit[]> {
  const together = batchReads(sql)
  return Promise.all(bodies.map((text) => readCommit(together, parseBody(text), of)))
}

interface ReadOptions {
  readonly chain: ChainSlug
  /** Returns true for an order whose state somebody waits for. */
  readonly isAwaited: (id: OrderId) => boolean
}

async function readCommit(
  sql: Sql,
  { atMs, cause, woken, rights, step, ...body }: Body,
  { chain, isAwaited }: ReadOptions,
): Promise<Commit> {
  if (cause === null) return { atMs, isOwn: false, changes: undefined, woken, rights, step }
  const awaited = body.orders.map(([id]) => id).filter(isAwaited)
  const [positions, fills, whole] = await Promise.all([
    Promise.all(body.positions.map(([id, trader]) => readPosition(sql, { id, chain, trader }))),
    Promise.all(body.fills.map((id) => findFill(sql, id))),
    Promise.all(awaited.map(async (id) => ({ record: { id }, after: (await findOrder(sql, id))?.state }))),
  ])
  const orders = body.orders.map(([id, trader, before, after]) => ({
    record: { id, trader },
    before: before === null ? undefined : { status: before },
    after: after === null ? undefined : { status: after },
  }))
  const isKept = (fill: LoggedFill | undefined): fill is LoggedFill => fill !== undefined
  const changes = { chain, cause, orders, positions, fills: fills.filter(isKept), awaited: whole }
  return { atMs, isOwn: false, changes, woken, rights, step }
}

/** Reads a position; one that is no longer stored has no state. */
async function readPosition(
  sql: Sql,
  { id, chain, trader }: Pick<PositionRecord, 'id' | 'chain' | 'trader'>,
): Promise<CommitChanges['positions'][number]> {
  const stored = await findPosition(sql, id)
  return { record: stored?.record ?? { id, chain, trader, originOrderId: id }, after: stored?.state }
}

function parseBody(text: string): Body {
  const body = fromExactJson<Body>(text)
  if (body.version !== VERSION) throw new Error(`the body of a commit has version ${String(body.version)}`)
  return body
}
