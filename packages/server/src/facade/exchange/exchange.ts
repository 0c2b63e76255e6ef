import { ApiError, type TransactionRequest } from '@bezel/protocol'
import type { AgentRecord } from '../../trading/agentRecord.ts'
import { agentNotDelegated, requireInForce } from '../../agents/agentRefusals.ts'
import { delegateIfKnown } from '../../agents/delegates.ts'
import { delegationTx } from '../../agents/delegationTx.ts'
import type { LimitAnswer } from '../../access/limits.ts'
import { refuseUndelegated } from '../../orders/delegation.ts'
import type { Relay } from '../../orders/signedWrite.ts'
import type { Envelope } from '../signing/envelope.ts'
import { classifyAction } from './actions.ts'
import { approveAgent } from './approveAgent.ts'
import { ERR, refusalText } from './errStrings.ts'
import { OK_DEFAULT, type ExchangeAnswer } from './exchangeAnswer.ts'
import { createEnvelopeNonce } from './envelopeNonce.ts'
import { ExchangeErr } from './exchangeErr.ts'
import type { ActionContext, ExchangeParts, RunAction, TradingParts } from './exchangeParts.ts'
import { requireAgent } from './requireAgent.ts'
import { nonceUsed, requireTimely } from './requireTimely.ts'
import { TRADE_ACTIONS } from './tradeActions.ts'

/** What brought an envelope. */
export interface Bearer {
  /** Of its IP (`networkOf`). */
  readonly network: string
  /** Hears what a charge said; throws `RATE_LIMITED` when it was refused. */
  readonly onCharge: (answer: LimitAnswer) => void
}

/** Anybody can sign an approval, and each is kept: this many a minute from one IP. */
const APPROVALS_PER_MINUTE = 10

/**
 * The one way of an envelope, whatever brought it. By its name alone an action is refused, or passed over, before anything else is looked at; then
 * it is read, and only then does anything depend on who signed it. Throws a `MalformedEnvelope`, and what is trouble of our own.
 */
export async function answerEnvelope(
  parts: ExchangeParts,
  envelope: Envelope,
  bearer: Bearer,
): Promise<ExchangeAnswer> {
  const classified = classifyAction(envelope.action.type)
  if (classified.kind === 'noop') return OK_DEFAULT
  if ('err' in classified) return { status: 'err', response: classified.err }
  const trading = requireRelayer(parts)
  if (classified.kind === 'user-signed') return approve(trading, envelope, bearer)
  const run = TRADE_ACTIONS[classified.name](envelope.action)
  return trade(trading, envelope, run, bearer)
}

function requireRelayer(parts: ExchangeParts): TradingParts {
  const { relayer, orders } = parts
  if (relayer !== null && orders.chain.writes) return { ...parts, relayer }
  throw new ApiError('CHAIN_READ_ONLY', `The facade only reads on ${orders.chain.slug}: it has no relayer there.`)
}

/** Registers an agent, and says what its master wallet has to send before it can act. */
async function approve(parts: TradingParts, envelope: Envelope, bearer: Bearer): Promise<ExchangeAnswer> {
  const { orders, relayer, now } = parts
  const { chain, delegates } = orders
  try {
    await chargeApproval(parts, bearer)
    const { trader } = await approveAgent({ ...parts, chain, nowMs: now() }, envelope)
    const isDelegated = (await delegateIfKnown(delegates, trader)) === relayer.address
    return { ...OK_DEFAULT, delegationTx: isDelegated ? null : delegationTx(chain, relayer.address) }
  } catch (error) {
    return refusalAnswer(error, undefined)
  }
}

async function chargeApproval({ approvals, now }: TradingParts, { network, onCharge }: Bearer): Promise<void> {
  const bucket = { scope: 'ip', key: `approveAgent ${network}`, limit: APPROVALS_PER_MINUTE } as const
  onCharge(await approvals.take([bucket], now()))
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
    agent = signerOf(parts, envelope)
    await chargeAgent(parts, agent, bearer)
    if (!parts.nonces.take(agent.agent, envelope.nonce)) throw nonceUsed(envelope.nonce)
    const nonce = createEnvelopeNonce(parts, { signer: agent.agent, nonce: envelope.nonce })
    const answer = await answerOf({ ...contextOf(parts, agent, envelope), nonce }, envelope, run)
    if (!(await nonce.keep())) throw nonceUsed(envelope.nonce)
    return answer
  } catch (error) {
    return refusalAnswer(error, agent)
  }
}

/** Refusals are answers too: the nonce is used up with them. */
async function answerOf(
  context: ActionContext & Required<Pick<ActionContext, 'nonce'>>,
  envelope: Envelope,
  run: RunAction<ExchangeAnswer>,
): Promise<ExchangeAnswer> {
  const { parts, agent, nonce } = context
  try {
    // What is kept without being relayed could be changed back by a replay after a crash.
    if (!isRelayed(envelope) && !(await nonce.keep())) throw nonceUsed(envelope.nonce)
    await requireMayAct(parts, agent, envelope)
    return await run(context)
  } catch (error) {
    return refusalAnswer(error, agent)
  }
}

/** Everything of it happens in writes that are relayed. */
function isRelayed({ action }: Envelope): boolean {
  return action.type !== 'updateLeverage' && action.type !== 'scheduleCancel'
}

function signerOf({ engine, sources, registry, orders }: TradingParts, envelope: Envelope): AgentRecord {
  const agentOf = (signer: AgentRecord['agent']): AgentRecord | undefined => registry.agent(orders.chain.slug, signer)
  return requireAgent({ engine, sources, agentOf }, envelope)
}

/** Every action changes something, so each counts twice: as a request, and as a write. */
async function chargeAgent(parts: TradingParts, { chain, agent }: AgentRecord, { onCharge }: Bearer): Promise<void> {
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
  if (error instanceof ApiError && error.code === 'RATE_LIMITED') return `${ERR.requests}. ${error.message}`
  return error instanceof ExchangeErr ? error.message : undefined
}

function delegationTxIn(error: unknown): TransactionRequest | undefined {
  if (!(error instanceof ApiError) || error.code !== 'AGENT_NOT_DELEGATED') return undefined
  return (error.details as { readonly delegationTx?: TransactionRequest } | undefined)?.delegationTx
}
