import { nonceReused } from '../access/admission.ts'
import { ApiError, type Address, type OrderId } from '@bezel/protocol'
import type { AgentRecord } from '../trading/agentRecord.ts'
import { agentNotDelegated, readOnlyAgent, requireInForce } from '../agents/agentRefusals.ts'
import { proveAgent, type AgentProof } from '../agents/proofs.ts'
import { findAgent, holdAgent } from '../store/agentStore.ts'
import type { Transaction } from '../store/sql.ts'
import type { Attempt, FoldClock } from '../trading/orders/orderModel.ts'
import { OFF_CHAIN } from '../journal/accountLog.ts'
import { clockAt } from '../journal/clock.ts'
import { startRefolds, type Refolds } from '../journal/refold.ts'
import type { ChainOrders } from './chainOrders.ts'
import { NodeUnavailableError, notReady } from '../ground/unavailable.ts'

/** The author of a write, as verified by the request's signature. */
export interface SignedWrite {
  readonly agent: AgentRecord
  /** Uses up the request's nonce in the transaction of the write. Returns false when it was used before. */
  readonly claim: (sql: Transaction) => Promise<boolean>
  /**
   * True when the claim also registers the agent, a trader who signs for itself for the first time. The agent is then
   * read after the claim is answered. Default false.
   */
  readonly isRegistering?: boolean
  /** Relay that sends the transaction; `null` when the agent sends it itself. */
  readonly relay: Relay | null
  /** Told in the transaction of the write that it proves the agent: the new record. */
  readonly onProven?: (sql: Transaction, agent: AgentRecord) => void
}

/** The trader for whom a transaction is made, and its sender: the agent, or the relay that sends for it. */
export interface TransactionAuthor {
  readonly agent: Pick<AgentRecord, 'agent' | 'trader'>
  readonly relay: Relay | null
}

/** Sends prepared transactions for agents that use the facade. */
export interface Relay {
  readonly sender: Address
  /** Queues a transaction in the database transaction that stores it. It is sent after the commit. */
  take(sql: Transaction, attempt: Attempt, purpose: RelayPurpose): Promise<void>
}

/**
 * The purpose of a relayed transaction, as far as it decides which gas pays for it. An `open` needs gas for its way out
 * as well; a close, a change of stops, and a cancel or reclaim are ways out of an order, or of positions.
 */
export type RelayPurpose =
  | { readonly kind: 'open'; readonly orderId: OrderId }
  | { readonly kind: 'cancel'; readonly orderId: OrderId }
  | { readonly kind: 'close' | 'stops' | 'cancel'; readonly positionIds: readonly OrderId[] }
  | { readonly kind: 'other' }

/** Returns the address that sends the transaction and must be the trader's delegate. */
export function senderOf({ agent, relay }: TransactionAuthor): Address {
  return relay?.sender ?? agent.agent
}

/** Returns true when the sender is the trader itself, which needs no delegation. */
export function isOwnSender(write: TransactionAuthor): boolean {
  return senderOf(write) === write.agent.trader
}

/** The steps of a write, in order. */
interface WriteSteps<Planned, Asked extends Promise<unknown> | undefined, Read, Result> {
  /** Applies the rules that need no node. Throws when they refuse the request. */
  readonly plan: () => Planned | Promise<Planned>
  /**
   * Asks the node in one round trip, which also reads the delegate. Returns `undefined` when the write needs no node.
   */
  readonly ask: (planned: Planned) => Asked
  /**
   * Reads what `keep` needs, in its transaction and together with the claim of the nonce, so that it costs no round
   * trip of its own. Nothing is decided here: the agent is not checked yet. Default: nothing.
   */
  readonly read?: (sql: Transaction, clock: FoldClock, planned: Planned, asked: Awaited<Asked>) => Promise<Read>
  /** Stores the write in one transaction; only its checks are binding. */
  readonly keep: (turn: WriteTurn, planned: Planned, asked: Awaited<Asked>, read: Read) => Promise<Result>
}

/** The database transaction of a write, after its nonce was used up. */
export interface WriteTurn {
  readonly sql: Transaction
  /** The agent as stored now; it may have changed since the request was verified. */
  readonly agent: AgentRecord
  readonly clock: FoldClock
  readonly refolds: Refolds
}

/**
 * Runs a write to orders or positions. Throws `NOT_READY` while not everything of the trader is known. An agent that is
 * not the delegate is told so before anything else about its request. The round trip to the node reads the delegate;
 * without one, because the rules refused the request or it needs no node, the delegate is checked separately.
 */
export async function runWrite<Planned, Asked extends Promise<unknown> | undefined, Result, Read = undefined>(
  orders: ChainOrders,
  write: SignedWrite,
  { plan, ask, read, keep }: WriteSteps<Planned, Asked, Read, Result>,
): Promise<Result> {
  const planned = await delegateFirst(orders, write, () => {
    if (!orders.isKnown(write.agent.trader)) throw notReady('snapshot')
    return plan()
  })
  const asking = ask(planned)
  if (asking === undefined) await refuseUndelegated(orders, write)
  const asked = await asking
  const scope = { chain: orders.chain.slug, trader: write.agent.trader }
  return orders.accountLog.transaction(scope, OFF_CHAIN, async (sql, journal, at) => {
    const clock = clockAt(orders.clock(), at)
    const claiming = claimWrite(sql, orders, write, clock.nowMs)
    const reading = read?.(sql, clock, planned, asked)
    // What the claim refuses is thrown first.
    reading?.catch(() => undefined)
    const stored = await claiming
    const proof = proofOf(orders, stored.trader, senderOf(write))
    const proven = stored.standing === 'used' ? undefined : await proveAgent(sql, stored, proof, clock.nowMs)
    if (proven !== undefined) write.onProven?.(sql, proven)
    const agent = proven ?? stored
    const turn = { sql, agent, clock, refolds: startRefolds(sql, clock, journal) }
    return keep(turn, planned, asked, (await reading) as Read)
  })
}

/**
 * Runs the rules; when they refuse, checks the delegate before the refusal is thrown. A request that passes costs no
 * check.
 */
async function delegateFirst<Planned>(
  orders: ChainOrders,
  write: SignedWrite,
  plan: () => Planned | Promise<Planned>,
): Promise<Planned> {
  try {
    return await plan()
  } catch (error) {
    if (error instanceof ApiError) await refuseUndelegated(orders, write)
    throw error
  }
}

/**
 * Starts a write's transaction: uses up its nonce and reads the agent again, because the trader may have revoked it or
 * narrowed its scope while the node was asked. Returns the agent as stored now.
 */
async function claimWrite(
  sql: Transaction,
  { chain }: ChainOrders,
  { agent: asked, claim, relay, isRegistering }: SignedWrite,
  nowMs: number,
): Promise<AgentRecord> {
  const claiming = claim(sql)
  // Sent behind the claim, which is answered first. One that registers takes several answers.
  const find = (): Promise<AgentRecord | undefined> => findAgent(sql, chain.slug, asked.agent)
  const [isFree, early] = await Promise.all([claiming, isRegistering === true ? undefined : find()])
  if (!isFree) throw nonceReused()
  const agent = await requireActing(sql, asked, { nowMs, found: isRegistering === true ? await find() : early })
  // A trader has one delegate, and the agent's mode says whether that is the agent or the relayer.
  const isOther = agent.mode === (relay === null ? 'relayed' : 'self')
  if (isOther && agent.agent !== agent.trader) throw agentNotDelegated(chain, senderOf({ agent, relay }))
  return agent
}

/**
 * Returns the agent as it is stored now, in the transaction of what it changes for its trader: what memory knows may be
 * older than a revocation at another node. Throws unless it still may write for that trader. `found` is the record
 * where the transaction has read it.
 */
export async function requireActing(
  sql: Transaction,
  { chain, agent: address, trader }: AgentRecord,
  { nowMs, found }: { readonly nowMs: number; readonly found?: AgentRecord | undefined },
): Promise<AgentRecord> {
  // One that no write was accepted of may be taken over by the trader of its address, who is alone with itself.
  const agent = found?.standing === 'used' ? found : await holdAgent(sql, chain, address)
  if (agent === undefined) throw new ApiError('AGENT_UNKNOWN', 'This agent is not registered on this chain.')
  requireInForce(agent, nowMs)
  if (agent.trader !== trader) throw new ApiError('AGENT_REVOKED', 'This agent now serves another trader.')
  if (agent.scope.permissions === 'read') throw readOnlyAgent()
  return agent
}

/**
 * Returns what an accepted write proves of its agent: `used` only where a look at the chain found the sender to be the
 * delegate. Whoever sends for itself needs none, and while the node is away nobody may have looked.
 */
export function proofOf(
  { delegates }: { readonly delegates: Pick<ChainOrders['delegates'], 'known'> },
  trader: Address,
  sender: Address,
): AgentProof {
  return delegates.known(trader) === sender ? 'used' : 'seen'
}

/**
 * Throws `AGENT_NOT_DELEGATED` when the sender is known not to be the delegate. While the node is unavailable nobody is
 * refused, because this check serves writes that do not need the chain.
 */
export async function refuseUndelegated(
  { chain, delegates }: Pick<ChainOrders, 'chain' | 'delegates'>,
  write: SignedWrite,
): Promise<void> {
  if (isOwnSender(write)) return
  if (await isDelegateIfKnown(delegates, write.agent.trader, senderOf(write))) return
  throw agentNotDelegated(chain, senderOf(write))
}

async function isDelegateIfKnown(
  delegates: ChainOrders['delegates'],
  trader: Address,
  sender: Address,
): Promise<boolean> {
  try {
    return await delegates.isDelegate(trader, sender)
  } catch (error) {
    if (error instanceof NodeUnavailableError) return true
    throw error
  }
}
