import { ApiError, type Address } from '@bezel/protocol'
import type { Delegates } from '../../agents/delegates.ts'
import { refuseManyAgents } from '../../agents/registry.ts'
import type { AgentRecord } from '../../trading/agentRecord.ts'
import type { Envelope } from '../signing/envelope.ts'
import { ExchangeErr } from './errStrings.ts'
import type { Bearer, TradingParts } from './exchangeParts.ts'
import type { UnknownSignerError } from './requireAgent.ts'

/** Reads of the chain for unknown signers, a minute from one IP. Limited because anybody can sign an action. */
const LOOKS_PER_MINUTE = 60

/**
 * Returns the agent with this address. A record that another trader made without the agent's signature says nothing
 * about a trader who made the relayer its delegate: its key trades for itself, so that nobody can capture it.
 */
export async function findFacadeAgent(parts: TradingParts, signer: Address): Promise<AgentRecord | undefined> {
  const { orders, registry, relayer } = parts
  const record = registry.agent(orders.chain.slug, signer)
  if (record === undefined || record.agentSigned || record.trader === signer) return record
  return (await orders.delegates.read(signer)) === relayer.address ? undefined : record
}

/**
 * Returns the record of a trader who signs for itself: the signer whose delegate on the chain is the relayer, and who
 * has no record of its own yet. It is in force from the moment that the action was signed, and is stored with the first
 * action. Throws the refusal of everybody else.
 */
export async function requireOwnAgent(
  parts: TradingParts,
  refusal: UnknownSignerError,
  { nonce }: Pick<Envelope, 'nonce'>,
  bearer: Bearer,
): Promise<AgentRecord> {
  const { orders, relayer, needsOwnApproval } = parts
  if (needsOwnApproval) {
    throw hinted(refusal, 'A trader who signs for itself first sends one approveAgent for its own address.')
  }
  const trader = await findDelegator(parts, refusal.signers, bearer)
  if (trader === undefined) {
    throw hinted(refusal, `A trader who signs for itself first makes the relayer ${relayer.address} its delegate.`)
  }
  const nowMs = parts.now()
  const record: AgentRecord = {
    chain: orders.chain.slug,
    agent: trader,
    trader,
    name: '',
    scope: { markets: 'all', maxLeverage: null, dailySpendCapUsd: null, expiresAt: null, permissions: 'trade' },
    mode: 'relayed',
    agentSigned: true,
    revoked: false,
    createdAtMs: nowMs,
    // The clock of the client may be ahead. A revocation must be newer, and may come at once.
    signedAtMs: Math.min(nonce, nowMs),
  }
  refuseOneMore(parts, record, nowMs)
  return record
}

function refuseOneMore({ registry }: TradingParts, record: AgentRecord, nowMs: number): void {
  try {
    refuseManyAgents(registry, record, nowMs)
  } catch (error) {
    throw error instanceof ApiError ? new ExchangeErr(error.message, { cause: error }) : error
  }
}

function hinted({ message, signers }: UnknownSignerError, hint: string): ExchangeErr {
  return new ExchangeErr(signers.length === 0 ? message : `${message} ${hint}`)
}

/** Finds the signer whose delegate is the relayer. Reads the chain unless a look that says so is there. */
async function findDelegator(
  { orders, relayer, approvals, now }: TradingParts,
  signers: readonly Address[],
  { network, onCharge }: Bearer,
): Promise<Address | undefined> {
  const found = knownDelegator(orders.delegates, signers, relayer.address)
  if (found !== undefined || signers.length === 0) return found
  const bucket = { scope: 'ip', key: `ownKey ${network}`, limit: LOOKS_PER_MINUTE } as const
  onCharge(await approvals.take([bucket], now()))
  await orders.delegates.refresh(signers)
  return knownDelegator(orders.delegates, signers, relayer.address)
}

function knownDelegator(
  delegates: Pick<Delegates, 'known'>,
  signers: readonly Address[],
  relayer: Address,
): Address | undefined {
  return signers.find((signer) => delegates.known(signer) === relayer)
}
