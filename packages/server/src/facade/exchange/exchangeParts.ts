import type { AgentRecord } from '../../trading/agentRecord.ts'
import type { Registry } from '../../agents/registry.ts'
import type { Limits } from '../../access/limits.ts'
import type { ChainOrders } from '../../orders/chainOrders.ts'
import type { SignatureEngine } from '../../signatures/signatureEngine.ts'
import type { Store } from '../../store/sql.ts'
import type { FacadeReads } from '../facadeReads.ts'
import type { Relayer } from '../relayer/relayer.ts'
import type { FacadeNonces } from '../signing/facadeNonces.ts'
import type { PhantomSource } from '../signing/phantomSource.ts'
import type { EnvelopeNonce } from './envelopeNonce.ts'
import type { OrderWaits } from './orderWaits.ts'

/** Who sends what was asked for. */
export type ExchangeRelayer = Pick<Relayer, 'address' | 'enqueue' | 'broadcast' | 'onFailed'>

/** What the exchange side of one chain's facade works with. */
export interface ExchangeParts {
  readonly orders: ChainOrders
  readonly store: Pick<Store, 'read' | 'transaction'>
  readonly reads: Pick<FacadeReads, 'triggers' | 'leverageOf'>
  /** `null`: a chain on which the facade only reads. */
  readonly relayer: ExchangeRelayer | null
  readonly registry: Registry
  readonly nonces: FacadeNonces
  readonly engine: SignatureEngine
  readonly sources: readonly PhantomSource[]
  readonly limits: Limits
  /** Requests a minute of one agent. */
  readonly agentLimit: number
  /** Those of them that change something, which all of them are here. */
  readonly agentWritesLimit: number
  /** Counts approvals of agents alone, apart from the limits of requests. */
  readonly approvals: Limits
  readonly waits: OrderWaits
  /** How long an answer is held for the fill. */
  readonly fillWaitMs: number
  readonly now: () => number
}

/** The parts of a chain that has a relayer. */
export type TradingParts = ExchangeParts & { readonly relayer: ExchangeRelayer }

/** An action of an agent that may act. */
export interface ActionContext {
  readonly parts: TradingParts
  readonly agent: AgentRecord
  /** When the answer is given at the latest, epoch ms. */
  readonly deadlineMs: number
  /** Nothing of it may be mined after this, epoch ms. */
  readonly expiresAfter: number | null
  /** Of the envelope; what the facade does by itself has none. */
  readonly nonce?: EnvelopeNonce
}

/** What an action does once it was read and its sender may act. */
export type RunAction<Answer> = (context: ActionContext) => Promise<Answer>
