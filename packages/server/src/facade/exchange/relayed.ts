import type { Address, Hex, OrderId } from '@bezel/protocol'
import { outOfForce } from '../../agents/agentRefusals.ts'
import type { Relay, SignedWrite } from '../../orders/signedWrite.ts'
import { setExpiry, setSubmitted } from '../../store/attemptStore.ts'
import { findOrder } from '../../store/orderStore.ts'
import type { Sql } from '../../store/sql.ts'
import type { AgentRecord } from '../../trading/agentRecord.ts'
import type { Attempt, OrderState } from '../../trading/orders/orderModel.ts'
import type { PositionState } from '../../trading/positions/positionModel.ts'
import type { ActionContext, TradingParts } from './exchangeParts.ts'

/** Work that is stored in the same transaction as the write; `hash` is that of the transaction that is sent. */
export type AlsoKeep = (sql: Sql, attempt: Attempt, hash: Hex) => Promise<void>

export interface Relayed<Result> {
  readonly result: Result
  /** The transaction hash; `null` when there was nothing to send. */
  readonly hash: Hex | null
}

/**
 * Makes a native write whose transaction the relayer sends. The signed bytes are stored in the same database
 * transaction as the write, so a crash afterwards loses nothing: the relayer sends the bytes it finds. The first write
 * of an envelope uses up its nonce.
 */
export async function relayed<Result>(
  context: Pick<ActionContext, 'parts' | 'agent' | 'expiresAfter' | 'nonce' | 'origin'>,
  work: (write: SignedWrite) => Promise<Result>,
  alsoKeep: AlsoKeep = async () => {},
): Promise<Relayed<Result>> {
  const { parts, agent, expiresAfter, nonce, origin } = context
  const { relayer, now } = parts
  let hash: Hex | null = null
  const relay: Relay = {
    sender: relayer.address,
    async take(sql, attempt, purpose) {
      const ending = endingBy(attempt, expiresAfter)
      const action = { attempt: ending, trader: agent.trader, agent: agent.agent, purpose, origin }
      const enqueued = await relayer.enqueue(sql, action)
      hash = enqueued.hash
      if (ending !== attempt) await setExpiry(sql, attempt.id, ending.expiresAtMs)
      // The attempt waits for this transaction from the start, as if its agent had reported it. It is trusted, because
      // the outbox sends it until its expiry.
      await setSubmitted(sql, attempt.id, { hash, submittedAtMs: now(), trustedUntilMs: null })
      await alsoKeep(sql, attempt, enqueued.hash)
    },
  }
  const result = await work({
    agent,
    claim: async (sql) => nonce === undefined || nonce.claim(sql),
    isRegistering: nonce?.isRegistering === true,
    relay,
    onProven: (sql, proven) => parts.registry.tellAgent(sql, proven, agent),
  })
  nonce?.noteKept()
  if (hash !== null) void relayer.broadcast(hash)
  return { result, hash }
}

function endingBy(attempt: Attempt, expiresAfter: number | null): Attempt {
  if (expiresAfter === null || expiresAfter >= attempt.expiresAtMs) return attempt
  return { ...attempt, expiresAtMs: expiresAfter }
}

type Waiting = Pick<ActionContext, 'parts' | 'deadlineMs'>

/** Waits for an order to be `isDone`; `undefined` when that takes longer than the answer is held. */
export async function settledOrder(
  { parts, deadlineMs }: Waiting,
  id: OrderId,
  isDone: (state: OrderState) => boolean,
): Promise<OrderState | undefined> {
  const { waits, store, now } = parts
  const waiting = waits.wait(id, isDone, deadlineMs - now())
  // The state may have been reached before the wait began.
  const state = (await findOrder(store.read, id).catch(() => undefined))?.state
  waits.tell(id, state)
  return state !== undefined && isDone(state) ? state : waiting
}

/** Waits for a position to be `isDone` or closed. False when that takes longer than the answer is held. */
export async function settledPosition(
  { parts, deadlineMs }: Waiting,
  id: OrderId,
  isDone: (state: PositionState) => boolean,
): Promise<boolean> {
  const { waits, orders, now } = parts
  const current = orders.positions.find(id)
  if (current === undefined || isDone(current.state)) return true
  return waits.waitPosition(id, isDone, deadlineMs - now())
}

/** Returns the settled value, or `failed` when the transaction that was to bring it failed on the chain first. */
export async function unlessFailed<Settled>(
  { parts }: Pick<Waiting, 'parts'>,
  hash: Hex | null,
  settled: Promise<Settled>,
): Promise<Settled | 'failed'> {
  if (hash === null) return settled
  const { promise, resolve } = Promise.withResolvers<'failed'>()
  const stop = parts.relayer.onFailed(hash, () => resolve('failed'))
  try {
    return await Promise.race([settled, promise])
  } finally {
    stop()
  }
}

/** True while the order's transaction, or the oracle's answer to it, is awaited. */
export function isUnderWay({ status }: Pick<OrderState, 'status'>): boolean {
  return status === 'prepared' || status === 'pending'
}

/**
 * Returns the agent in whose name the service finishes what a trader began through the facade: the agent that began it
 * or, when that one is gone, another agent of the same trader. `undefined` when the trader has no agent left that may
 * act.
 */
export async function facadeAgent(
  { registry, orders, now }: TradingParts,
  of: { readonly trader: Address; readonly agent: Address | null },
): Promise<AgentRecord | undefined> {
  const mayAct = (await registry.agentsOf(orders.chain.slug, of.trader))
    .filter((record) => record.scope.permissions === 'trade' && outOfForce(record, now()) === undefined)
    .filter(({ mode, agent }) => mode === 'relayed' || agent === of.trader)
  return mayAct.find(({ agent }) => agent === of.agent) ?? mayAct[0]
}
