import type { Controls } from '../../access/controls.ts'
import type { LimitAnswer, Limits } from '../../access/limits.ts'
import type { OverloadGuard } from '../../access/overload.ts'
import type { RegistrationLimit } from '../../access/registrationLimit.ts'
import type { Registry } from '../../agents/registry.ts'
import type { ChainOrders } from '../../orders/chainOrders.ts'
import type { SignatureEngine } from '../../signatures/recovery.ts'
import type { AuditOrigin } from '../../store/auditStore.ts'
import type { TraderScope } from '../../store/scope.ts'
import type { Store, Transaction } from '../../store/sql.ts'
import type { AgentRecord } from '../../trading/agentRecord.ts'
import type { LivePosition } from '../../trading/positions/positionModel.ts'
import type { FacadeReads } from '../facadeReads.ts'
import type { Relayer } from '../relayer/startRelayer.ts'
import type { FacadeNonces } from '../signing/facadeNonces.ts'
import type { PhantomSource } from '../signing/phantomAgent.ts'
import type { OrderWaits } from './orderWaits.ts'

/** The relayer functions that the exchange side uses. */
export type ExchangeRelayer = Pick<
  Relayer,
  'address' | 'enqueue' | 'broadcast' | 'isOnItsWay' | 'onFailed' | 'burnRevoked'
>

/** The dependencies of the exchange side of one chain's facade. */
export interface ExchangeParts {
  readonly orders: ChainOrders
  readonly store: Pick<Store, 'read' | 'transaction'>
  readonly reads: Pick<FacadeReads, 'triggers' | 'leverageOf'>
  /** `null` on a chain where the facade only reads. */
  readonly relayer: ExchangeRelayer | null
  /** True on a node without the role `relayer`: other nodes answer envelopes. Default false. */
  readonly isRelayerElsewhere?: boolean
  readonly registry: Registry
  readonly nonces: FacadeNonces
  readonly engine: SignatureEngine
  readonly sources: readonly PhantomSource[]
  /** True where a trader who signs for itself needs an `approveAgent` for its own address first. */
  readonly needsOwnApproval: boolean
  /** The operator's controls. */
  readonly controls: Pick<Controls, 'writesPaused' | 'relayerPaused' | 'isPaused'>
  readonly limits: Limits
  /** Requests that one agent may send in a minute. */
  readonly agentLimit: number
  /** Writes that one agent may send in a minute. Every action counts as a write. */
  readonly agentWritesLimit: number
  /** Counts reads of the chain for unknown signers, apart from the request limits. */
  readonly approvals: Limits
  readonly registrations: RegistrationLimit
  /**
   * Waits until memory has what other nodes committed, and throws `NOT_READY` where it is too old to act on. Left out
   * where there are no other nodes.
   */
  readonly settle?: (() => Promise<void>) | undefined
  /** Sheds approvals and unknown signers. Left out: none are. */
  readonly overload?: Pick<OverloadGuard, 'admit'> | undefined
  readonly waits: OrderWaits
  /** Time that an answer is held for the fill. */
  readonly fillWaitMs: number
  readonly now: () => number
}

/** The connection that brought an envelope. */
export interface Bearer {
  /** The network of the sender's IP address (`networkOf`). */
  readonly network: string
  /** The request, for the audit log. Default: only the network. */
  readonly origin?: AuditOrigin | undefined
  /** Receives the result of each charge against a limit. Throws `RATE_LIMITED` when the charge was refused. */
  readonly onCharge: (answer: LimitAnswer) => void
}

/** The parts of a chain that has a relayer. */
export type TradingParts = ExchangeParts & { readonly relayer: ExchangeRelayer }

/** The context of one action, of an agent that may act. */
export interface ActionContext {
  readonly parts: TradingParts
  readonly agent: AgentRecord
  /** The latest time of the answer, epoch ms. */
  readonly deadlineMs: number
  /** The time after which nothing of the action may be mined, epoch ms. */
  readonly expiresAfter: number | null
  /** The nonce of the envelope. Absent for work that the facade does by itself. */
  readonly nonce?: EnvelopeNonce
  /** The request, for the audit log. Absent for work that the facade does by itself. */
  readonly origin?: AuditOrigin
}

/** Returns positions as they are now, after something was waited for; those that are closed as they were. */
export function presentOf(
  { positions }: Pick<ChainOrders, 'positions'>,
  known: readonly LivePosition[],
): readonly LivePosition[] {
  return known.map((position) => positions.find(position.record.id) ?? position)
}

/** Returns the scope of what an action stores. */
export function scopeOf({ agent: { chain, trader } }: Pick<ActionContext, 'agent'>): TraderScope {
  return { chain, trader }
}

/** The work of an action, run once its fields were read and its sender may act. */
export type RunAction<Answer> = (context: ActionContext) => Promise<Answer>

/**
 * The nonce of an envelope that was taken in memory. The first write of the envelope uses it up for good, in the same
 * commit: after a crash before that commit the envelope is unused, after a later crash the request is done.
 */
interface EnvelopeNonce {
  /** Uses up the nonce in the transaction of a write. Returns false when another process used it. */
  claim(sql: Transaction): Promise<boolean>
  /** True while the claim also registers the trader as its own agent. */
  readonly isRegistering: boolean
  /** Notes that a write that claimed the nonce is committed. */
  noteKept(): void
  /**
   * Uses up the nonce when no write did, because an answered envelope is never answered again. Returns false when
   * another process used it.
   */
  keep(): Promise<boolean>
}

/**
 * Creates the nonce of an agent's envelope. A trader who signs for itself and has no record of its own is registered in
 * the transaction that uses up the nonce.
 */
export function createEnvelopeNonce(
  { nonces, store, registry }: Pick<TradingParts, 'nonces' | 'store' | 'registry'>,
  of: { readonly agent: AgentRecord; readonly nonce: number; readonly isNew: boolean; readonly origin: AuditOrigin },
): EnvelopeNonce {
  const { agent, isNew } = of
  let isKept = false

  async function claim(sql: Transaction): Promise<boolean> {
    if (isKept) return true
    if (!(await nonces.claim(sql, agent.agent, of.nonce))) return false
    if (isNew) await registry.addOwnAgent(sql, agent, of.origin)
    return true
  }

  return {
    claim,
    get isRegistering() {
      return isNew && !isKept
    },
    noteKept: () => void (isKept = true),
    async keep() {
      if (isKept) return true
      const isFree = await store.transaction({ chain: agent.chain, trader: agent.trader }, claim)
      isKept = true
      return isFree
    },
  }
}
