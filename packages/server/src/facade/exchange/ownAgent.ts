import type { Address, ChainSlug } from '@bezel/protocol'
import { ipBuckets } from '../../access/limits.ts'
import type { Delegates } from '../../agents/delegates.ts'
import { isKeptFrom } from '../../agents/claims.ts'
import type { AgentRecord } from '../../trading/agentRecord.ts'
import type { Envelope } from '../signing/envelope.ts'
import { ExchangeErr } from './errStrings.ts'
import type { Bearer, TradingParts } from './exchangeParts.ts'
import type { UnknownSignerError } from './requireAgent.ts'

/** Reads of the chain for unknown signers, a minute from one IP. Limited because anybody can sign an action. */
const LOOKS_PER_MINUTE = 60

/**
 * Finds the agent with this address. A record that another trader made without the agent's signature, and for which the
 * agent never acted, says nothing about a trader who made the relayer its delegate: its key trades for itself, so that
 * nobody can capture it.
 */
export async function findFacadeAgent(
  parts: TradingParts,
  signer: Address,
  bearer: Bearer,
): Promise<AgentRecord | undefined> {
  const record = await parts.registry.findAgent(parts.orders.chain.slug, signer)
  if (record === undefined || isKeptFrom(record, signer)) return record
  return (await findDelegator(parts, [signer], bearer)) === undefined ? record : undefined
}

/**
 * Returns the record of a trader who signs for itself: the signer whose delegate on the chain is the relayer, and who
 * has no record of its own yet. It is in force from the moment that the action was signed, and is stored with the first
 * action. Throws the refusal of everybody else, and `NOT_READY` while signers of whom nothing is known are shed.
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
  if (knownDelegator(orders.delegates, refusal.signers, relayer.address) === undefined) parts.overload?.admit()
  const trader = await findDelegator(parts, refusal.signers, bearer)
  if (trader === undefined) {
    throw hinted(refusal, `A trader who signs for itself first makes the relayer ${relayer.address} its delegate.`)
  }
  return ownRecord(orders.chain.slug, trader, { nonce, nowMs: parts.now() })
}

function ownRecord(
  chain: ChainSlug,
  trader: Address,
  { nonce, nowMs }: { readonly nonce: number; readonly nowMs: number },
): AgentRecord {
  return {
    chain,
    agent: trader,
    trader,
    name: '',
    scope: { markets: 'all', maxLeverage: null, dailySpendCapUsd: null, expiresAt: null, permissions: 'trade' },
    mode: 'relayed',
    agentSigned: true,
    revoked: false,
    standing: 'used',
    createdAtMs: nowMs,
    // The clock of the client may be ahead. A revocation must be newer, and may come at once.
    signedAtMs: Math.min(nonce, nowMs),
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
  onCharge(await approvals.take(ipBuckets(`ownKey ${network}`, LOOKS_PER_MINUTE), now()))
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
