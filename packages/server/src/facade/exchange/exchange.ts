import { ApiError, type Address, type TransactionRequest } from '@bezel/protocol'
import { requireUnpaused } from '../../access/controls.ts'
import { registrationNetworkOf } from '../../access/ipAddress.ts'
import { agentNotDelegated, requireInForce, delegationTx } from '../../agents/agentRefusals.ts'
import { delegateIfKnown } from '../../agents/delegates.ts'
import { notReady } from '../../ground/unavailable.ts'
import { proofOf, refuseUndelegated, type Relay } from '../../orders/signedWrite.ts'
import type { AuditOrigin } from '../../store/auditStore.ts'
import type { AgentRecord } from '../../trading/agentRecord.ts'
import type { Envelope, ExchangeAction } from '../signing/envelope.ts'
import { classifyAction, type TradeAction } from './actions.ts'
import { userSignedSigner } from '../signing/signers.ts'
import { approveAgent, isEnding } from './approveAgent.ts'
import { batchModify, modify } from './modify.ts'
import { cancel, cancelByCloid, scheduleCancel } from './cancel.ts'
import { ERR, refusalText, ExchangeErr } from './errStrings.ts'
import { OK_DEFAULT, type ExchangeAnswer } from './exchangeAnswer.ts'
import {
  createEnvelopeNonce,
  type ActionContext,
  type Bearer,
  type ExchangeParts,
  type RunAction,
  type TradingParts,
} from './exchangeParts.ts'
import { order } from './order.ts'
import { findFacadeAgent, requireOwnAgent } from './ownAgent.ts'
import { requireAgent, nonceUsed, requireTimely, UnknownSignerError } from './requireAgent.ts'
import { updateIsolatedMargin, updateLeverage } from './updateMargin.ts'

/** The readers of the trading actions. A reader throws a `MalformedEnvelope`, or returns the work of the action. */
const TRADE_ACTIONS: Readonly<Record<TradeAction, (action: ExchangeAction) => RunAction<ExchangeAnswer>>> = {
  order,
  cancel,
  cancelByCloid,
  modify,
  batchModify,
  updateLeverage,
  updateIsolatedMargin,
  scheduleCancel,
}

/**
 * Answers an envelope, whichever transport brought it. An action is first refused or passed over by its name alone,
 * then its fields are read, and only then does anything depend on the signer. Throws a `MalformedEnvelope`, and errors
 * of the service itself.
 */
export async function answerEnvelope(
  parts: ExchangeParts,
  envelope: Envelope,
  bearer: Bearer,
): Promise<ExchangeAnswer> {
  if (parts.isRelayerElsewhere === true && parts.orders.chain.writes) throw notReady('relayer_elsewhere')
  const classified = classifyAction(envelope.action.type)
  if (classified.kind === 'noop') return OK_DEFAULT
  if ('err' in classified) return { status: 'err', response: classified.err }
  const trading = requireRelayer(parts)
  const run = classified.kind === 'user-signed' ? undefined : readAction(classified.name, envelope.action)
  if (run !== undefined && 'status' in run) return run
  // Who may sign, and what there is to act on, are in memory.
  await parts.settle?.()
  return run === undefined ? approve(trading, envelope, bearer) : trade(trading, envelope, run, bearer)
}

/** Reads an action. Returns the refusal of one that nobody may send, whoever signed it. */
function readAction(name: TradeAction, action: ExchangeAction): RunAction<ExchangeAnswer> | ExchangeAnswer {
  try {
    return TRADE_ACTIONS[name](action)
  } catch (error) {
    if (error instanceof ExchangeErr) return { status: 'err', response: error.message }
    throw error
  }
}

function requireRelayer(parts: ExchangeParts): TradingParts {
  const { relayer, orders } = parts
  if (relayer !== null && orders.chain.writes) return { ...parts, relayer }
  throw new ApiError('CHAIN_READ_ONLY', `The facade only reads on ${orders.chain.slug}: it has no relayer there.`)
}

/** Registers an agent, and answers with the transaction that its master wallet has to send before the agent can act. */
async function approve(parts: TradingParts, envelope: Envelope, bearer: Bearer): Promise<ExchangeAnswer> {
  const { orders, relayer, registry, now } = parts
  const { chain, delegates } = orders
  try {
    if (!isEnding(envelope)) {
      parts.overload?.admit()
      bearer.onCharge(await parts.registrations.charge(bearer.network, now()))
    }
    const network = registrationNetworkOf(bearer.network)
    const origin = originOf(bearer)
    const approval = { ...parts, chain, delegates, relayer: relayer.address, network, origin, nowMs: now() }
    const agent = await approveAgent(approval, envelope)
    // An approval may have ended other agents of the trader.
    const left = await relayer.burnRevoked(userSignedSigner(parts.engine, envelope)!)
    const answer = { ...OK_DEFAULT, ...(left.length > 0 && { mayStillBeMined: left }) }
    if (agent === undefined) return answer
    const isDelegated = (await delegateIfKnown(delegates, agent.trader)) === relayer.address
    if (isDelegated) await registry.noteStanding(agent, 'delegated')
    return { ...answer, delegationTx: isDelegated ? null : delegationTx(chain, relayer.address) }
  } catch (error) {
    return refusalAnswer(error, undefined)
  }
}

async function trade(
  parts: TradingParts,
  envelope: Envelope,
  run: RunAction<ExchangeAnswer>,
  bearer: Bearer,
): Promise<ExchangeAnswer> {
  let agent: AgentRecord | undefined
  try {
    requireTimely(envelope, parts.now())
    const origin = originOf(bearer)
    const signer = await signerOf(parts, envelope, bearer)
    agent = signer.agent
    await chargeAgent(parts, agent, bearer)
    requireUnpaused(parts.controls, agent)
    if (!parts.nonces.take(agent.agent, envelope.nonce)) throw nonceUsed(envelope.nonce)
    const nonce = createEnvelopeNonce(parts, { ...signer, nonce: envelope.nonce, origin })
    const context = { ...contextOf(parts, agent, envelope), nonce, origin }
    // A fault is an answer too: another node, or the next process, would take the envelope again.
    const answer = await answerOf(context, envelope, run).catch(async (fault: unknown) => {
      await nonce.keep()
      throw fault
    })
    if (!(await nonce.keep())) throw nonceUsed(envelope.nonce)
    return answer
  } catch (error) {
    return refusalAnswer(error, agent)
  }
}

function originOf({ origin, network }: Bearer): AuditOrigin {
  return origin ?? { callerIp: network }
}

/** Runs an action and answers it. A refusal is an answer too and uses up the nonce. */
async function answerOf(
  context: ActionContext & Required<Pick<ActionContext, 'nonce'>>,
  envelope: Envelope,
  run: RunAction<ExchangeAnswer>,
): Promise<ExchangeAnswer> {
  const { parts, agent, nonce } = context
  try {
    // A change that is stored without being relayed could be reverted by a replay after a crash, so its nonce is kept
    // first.
    if (!isRelayed(envelope) && !(await nonce.keep())) throw nonceUsed(envelope.nonce)
    await requireMayAct(parts, agent, envelope)
    // Relayed writes note it in their own transaction.
    if (!isRelayed(envelope)) {
      await parts.registry.noteStanding(agent, proofOf(parts.orders, agent.trader, parts.relayer.address))
    }
    return await run(context)
  } catch (error) {
    return refusalAnswer(error, agent)
  }
}

/** True for actions that change something only through relayed writes, which use up the nonce themselves. */
function isRelayed({ action }: Envelope): boolean {
  return action.type !== 'updateLeverage' && action.type !== 'scheduleCancel'
}

/** Returns the agent that signed. It is new when a trader signs for itself for the first time. */
async function signerOf(
  parts: TradingParts,
  envelope: Envelope,
  bearer: Bearer,
): Promise<{ readonly agent: AgentRecord; readonly isNew: boolean }> {
  const { engine, sources } = parts
  const agentOf = (signer: Address): Promise<AgentRecord | undefined> => findFacadeAgent(parts, signer, bearer)
  try {
    return { agent: await requireAgent({ engine, sources, agentOf }, envelope), isNew: false }
  } catch (error) {
    if (!(error instanceof UnknownSignerError)) throw error
    return { agent: await requireOwnAgent(parts, error, envelope, bearer), isNew: true }
  }
}

/** Charges the agent twice, as a request and as a write, because every action changes something. */
async function chargeAgent(parts: TradingParts, { chain, agent }: AgentRecord, { onCharge }: Bearer): Promise<void> {
  const key = `${chain} ${agent}`
  const buckets = [
    { scope: 'agent', key, limit: parts.agentLimit },
    { scope: 'agent-writes', key, limit: parts.agentWritesLimit },
  ] as const
  onCharge(await parts.limits.take(buckets, parts.now()))
}

/**
 * Throws unless the agent is in force, acts for its own trader, and the chain lets the relayer act for that trader.
 * Throws `NOT_READY` while not everything of the trader is known: a reducing order or a cancel would be told that
 * there is nothing.
 */
async function requireMayAct(parts: TradingParts, agent: AgentRecord, { vaultAddress }: Envelope): Promise<void> {
  const { orders, relayer } = parts
  if (vaultAddress !== null && vaultAddress !== agent.trader) {
    throw new ExchangeErr(
      `There are no vaults and sub-accounts here: leave vaultAddress ${vaultAddress.toLowerCase()} out.`,
    )
  }
  requireInForce(agent, parts.now())
  if (agent.scope.permissions === 'read') throw new ApiError('SCOPE_READ_ONLY', "This agent's scope lets it read only.")
  if (agent.mode === 'self' && agent.agent !== agent.trader) throw agentNotDelegated(orders.chain, relayer.address)
  orders.delegates.touch(agent.trader)
  await refuseUndelegated(orders, {
    agent,
    claim: async () => true,
    relay: { sender: relayer.address, take: TAKES_NOTHING },
  })
  if (!orders.isKnown(agent.trader)) throw notReady('snapshot')
}

const TAKES_NOTHING: Relay['take'] = async () => {}

function contextOf(parts: TradingParts, agent: AgentRecord, { expiresAfter }: Envelope): ActionContext {
  return { parts, agent, expiresAfter, deadlineMs: parts.now() + parts.fillWaitMs }
}

/** Returns the answer to a refusal. Throws any other error again. */
function refusalAnswer(error: unknown, agent: AgentRecord | undefined): ExchangeAnswer {
  const response = agent === undefined ? ownText(error) : refusalText(error, agent)
  if (response === undefined) throw error
  const tx = delegationTxIn(error)
  return { status: 'err', response, ...(tx === undefined ? {} : { delegationTx: tx }) }
}

/** Returns the text of a refusal made before the agent is known. */
function ownText(error: unknown): string | undefined {
  if (error instanceof ApiError && error.code === 'RATE_LIMITED') return `${ERR.requests}. ${error.message}`
  return error instanceof ExchangeErr ? error.message : undefined
}

function delegationTxIn(error: unknown): TransactionRequest | undefined {
  if (!(error instanceof ApiError) || error.code !== 'AGENT_NOT_DELEGATED') return undefined
  return (error.details as { readonly delegationTx?: TransactionRequest } | undefined)?.delegationTx
}
