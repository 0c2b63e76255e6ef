import { ApiError, type TransactionRequest } from '@bezel/protocol'
import type { AgentRecord } from '../../agents/agentRecord.ts'
import { agentNotDelegated, requireInForce } from '../../agents/agentRefusals.ts'
import { delegateIfKnown } from '../../agents/delegates.ts'
import { delegationTx } from '../../agents/delegationTx.ts'
import type { LimitAnswer } from '../../cluster/limits.ts'
import { refuseUndelegated } from '../../orders/delegation.ts'
import type { Relay } from '../../orders/signedWrite.ts'
import type { Envelope } from '../signing/envelope.ts'
import { classifyAction } from './actions.ts'
import { approveAgent } from './approveAgent.ts'
import { refusalText } from './errStrings.ts'
import { OK_DEFAULT, type ExchangeAnswer } from './exchangeAnswer.ts'
import { ExchangeErr } from './exchangeErr.ts'
import type { ActionContext, ExchangeParts, RunAction, TradingParts } from './exchangeParts.ts'
import { requireAgent } from './requireAgent.ts'
import { nonceUsed, requireTimely } from './requireTimely.ts'
import { TRADE_ACTIONS } from './tradeActions.ts'

/** Hears what a charge to the buckets of an agent said; throws `RATE_LIMITED` when it was refused. */
export type OnCharge = (answer: LimitAnswer) => void

/**
 * The one way of an envelope, whatever brought it. By its name alone an action is refused, or passed over, before anything else is looked at; then
 * it is read, and only then does anything depend on who signed it. Throws a `MalformedEnvelope`, and what is trouble of our own.
 */
export async function answerEnvelope(
  parts: ExchangeParts,
  envelope: Envelope,
  onCharge: OnCharge,
): Promise<ExchangeAnswer> {
  const classified = classifyAction(envelope.action.type)
  if (classified.kind === 'noop') return OK_DEFAULT
  if ('err' in classified) return { status: 'err', response: classified.err }
  const trading = requireRelayer(parts)
  if (classified.kind === 'user-signed') return approve(trading, envelope)
  const run = TRADE_ACTIONS[classified.name](envelope.action)
  return trade(trading, envelope, run, onCharge)
}

function requireRelayer(parts: ExchangeParts): TradingParts {
  const { relayer, orders } = parts
  if (relayer !== null && orders.chain.writes) return { ...parts, relayer }
  throw new ApiError('CHAIN_READ_ONLY', `The facade only reads on ${orders.chain.slug}: it has no relayer there.`)
}

/** Registers an agent, and says what its master wallet has to send before it can act. */
async function approve(parts: TradingParts, envelope: Envelope): Promise<ExchangeAnswer> {
  const { orders, relayer, now } = parts
  const { chain, delegates } = orders
  try {
    const { trader } = await approveAgent({ ...parts, chain, nowMs: now() }, envelope)
    const isDelegated = (await delegateIfKnown(delegates, trader)) === relayer.address
    return { ...OK_DEFAULT, delegationTx: isDelegated ? null : delegationTx(chain, relayer.address) }
  } catch (error) {
    if (error instanceof ExchangeErr) return { status: 'err', response: error.message }
    throw error
  }
}

async function trade(
  parts: TradingParts,
  envelope: Envelope,
  run: RunAction<ExchangeAnswer>,
  onCharge: OnCharge,
): Promise<ExchangeAnswer> {
  let agent: AgentRecord | undefined
  try {
    requireTimely(envelope, parts.now())
    agent = signerOf(parts, envelope)
    await chargeAgent(parts, agent, onCharge)
    if (!(await parts.nonces.use(agent.agent, envelope.nonce))) throw nonceUsed(envelope.nonce)
    await requireMayAct(parts, agent, envelope)
    return await run(contextOf(parts, agent, envelope))
  } catch (error) {
    return refusalAnswer(error, agent)
  }
}

function signerOf({ engine, sources, registry, orders }: TradingParts, envelope: Envelope): AgentRecord {
  const agentOf = (signer: AgentRecord['agent']): AgentRecord | undefined => registry.agent(orders.chain.slug, signer)
  return requireAgent({ engine, sources, agentOf }, envelope)
}

/** Every action changes something, so each counts twice: as a request, and as a write. */
async function chargeAgent(parts: TradingParts, { chain, agent }: AgentRecord, onCharge: OnCharge): Promise<void> {
  const key = `${chain} ${agent}`
  const buckets = [
    { scope: 'agent', key, limit: parts.agentLimit },
    { scope: 'agent-writes', key, limit: parts.agentWritesLimit },
  ] as const
  onCharge(await parts.limits.take(buckets, parts.now()))
}

/** Whether the agent still may, for whom, and whether the chain lets the relayer act for its trader. */
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
}

const TAKES_NOTHING: Relay['take'] = async () => {}

function contextOf(parts: TradingParts, agent: AgentRecord, { expiresAfter }: Envelope): ActionContext {
  return { parts, agent, expiresAfter, deadlineMs: parts.now() + parts.fillWaitMs }
}

/** Throws what is no refusal. */
function refusalAnswer(error: unknown, agent: AgentRecord | undefined): ExchangeAnswer {
  const response = agent === undefined ? ownText(error) : refusalText(error, agent)
  if (response === undefined) throw error
  const tx = delegationTxIn(error)
  return { status: 'err', response, ...(tx === undefined ? {} : { delegationTx: tx }) }
}

/** Of what is refused while nobody knows whom. */
function ownText(error: unknown): string | undefined {
  return error instanceof ExchangeErr ? error.message : undefined
}

function delegationTxIn(error: unknown): TransactionRequest | undefined {
  if (!(error instanceof ApiError) || error.code !== 'AGENT_NOT_DELEGATED') return undefined
  return (error.details as { readonly delegationTx?: TransactionRequest } | undefined)?.delegationTx
}
