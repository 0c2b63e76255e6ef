import { ApiError, parseAddress, type Address, MAX_AGENT_NAME_CHARS } from '@bezel/protocol'
import { endNamesakes, NOBODY, registerAgent, type RegistrationParts } from '../../agents/registerAgent.ts'
import type { ServedChain } from '../../chain/servedChain.ts'
import type { SignatureEngine } from '../../signatures/recovery.ts'
import type { AgentRecord } from '../../trading/agentRecord.ts'
import type { Envelope } from '../signing/envelope.ts'
import type { FacadeNonces } from '../signing/facadeNonces.ts'
import { HYPERLIQUID_CHAINS, type PhantomSource } from '../signing/phantomAgent.ts'
import { userSignedSigner } from '../signing/signers.ts'
import { ExchangeErr } from './errStrings.ts'
import { nonceUsed, requireTimely } from './requireAgent.ts'
import { hasAgents } from '../../store/agentStore.ts'
import type { AuditOrigin } from '../../store/auditStore.ts'
import type { Store } from '../../store/sql.ts'

/** The dependencies of `approveAgent`. */
export interface ApproveAgentParts extends RegistrationParts {
  readonly chain: Pick<ServedChain, 'slug'>
  readonly store: Pick<Store, 'read' | 'transaction'>
  readonly nonces: FacadeNonces
  readonly engine: SignatureEngine
  readonly sources: readonly PhantomSource[]
  /** Network that the request came from (`registrationNetworkOf`). */
  readonly network: string
  /** The request, for the audit log. */
  readonly origin?: AuditOrigin | undefined
  readonly nowMs: number
}

/**
 * Registers an agent for the master wallet that the signature recovers to, with full trading scope and the relayer as
 * its sender. The rules are those of a native registration that the agent itself did not sign. As on the exchange whose
 * shape this is, the trader's older relayed agent of the same name ends with it, and the zero address only ends that
 * one: then nothing is returned. A wrong signature recovers to an address whose key nobody has, which is harmless:
 * nobody can make the relayer the delegate of that address. Throws an `ExchangeErr`.
 */
export async function approveAgent(of: ApproveAgentParts, envelope: Envelope): Promise<AgentRecord | undefined> {
  const { nowMs, network, registry } = of
  const cause = { ...of.origin, nowMs }
  const record = registrationOf(of, envelope)
  requireTimely(envelope, nowMs)
  if (isEnding(envelope)) await requireSomeAgents(of, record, envelope)
  if (!(await of.nonces.use(record.trader, envelope.nonce))) throw nonceUsed(envelope.nonce)
  if (!isEnding(envelope)) return refusalsAsErr(registerAgent(of, { record, network, cause }))
  await refusalsAsErr(
    of.store.transaction({ chain: record.chain }, (sql) => endNamesakes(sql, registry, record, cause)),
  )
  return undefined
}

/**
 * Throws when there is nothing to end: anybody can sign for wallets without agents, so they cost no transaction, and a
 * wallet whose client signs wrongly must not believe that its agent has ended.
 */
async function requireSomeAgents(
  of: ApproveAgentParts,
  { chain, trader }: AgentRecord,
  { nonce }: Envelope,
): Promise<void> {
  if (await hasAgents(of.store.read, { chain, trader })) return
  if (!of.nonces.take(trader, nonce)) throw nonceUsed(nonce)
  throw new ExchangeErr(`User ${trader.toLowerCase()} has no API Wallets here, so none was ended: check the signature.`)
}

/** True for an approval of the zero address, which ends the agent of that name and registers nothing. */
export function isEnding({ action }: Pick<Envelope, 'action'>): boolean {
  return typeof action.agentAddress === 'string' && parseAddress(action.agentAddress) === NOBODY
}

/**
 * Returns the record that the action asks for. Its nonce is the time at which the master wallet signed, so an older
 * approval never replaces a newer one.
 */
function registrationOf({ chain, engine, sources, nowMs }: ApproveAgentParts, envelope: Envelope): AgentRecord {
  const { action, nonce } = envelope
  requireNetwork(action.hyperliquidChain, sources)
  if (action.nonce !== nonce)
    throw new ExchangeErr('Invalid nonce: the one of the action and the outer one must be the same.')
  const agent = addressOf(action.agentAddress)
  const { name, expiresAt } = parseAgentName(nameOf(action.agentName))
  if (expiresAt !== null && expiresAt <= nowMs) throw new ExchangeErr(`valid_until must be after server time ${nowMs}.`)
  const trader = userSignedSigner(engine, envelope)
  if (trader === undefined)
    throw new ExchangeErr('approveAgent can not be verified: check signatureChainId and signature.')
  return {
    chain: chain.slug,
    agent,
    trader,
    name,
    scope: { markets: 'all', maxLeverage: null, dailySpendCapUsd: null, expiresAt, permissions: 'trade' },
    mode: 'relayed',
    agentSigned: agent === trader,
    revoked: false,
    standing: 'claimed',
    createdAtMs: nowMs,
    signedAtMs: nonce,
  }
}

function requireNetwork(hyperliquidChain: unknown, sources: readonly PhantomSource[]): void {
  const allowed = sources.map((source) => HYPERLIQUID_CHAINS[source])
  if (typeof hyperliquidChain === 'string' && allowed.includes(hyperliquidChain)) return
  throw new ExchangeErr(`hyperliquidChain must be ${allowed.join(' or ')} here.`)
}

function addressOf(value: unknown): Address {
  const address = typeof value === 'string' ? parseAddress(value) : undefined
  if (address === undefined) throw new ExchangeErr('agentAddress must be an address.')
  return address
}

/** Returns the agent's name; absent and null count as the empty name. */
function nameOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  throw new ExchangeErr('agentName must be a string.')
}

/** Turns refusals of the native registration into an `ExchangeErr`. */
async function refusalsAsErr<Result>(change: Promise<Result>): Promise<Result> {
  try {
    return await change
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new ExchangeErr(error.code === 'TRADER_MISMATCH' ? OTHER_TRADER : error.message, { cause: error })
  }
}

/** The ways out of a claim of somebody else, all of which only the owner of the agent has. */
const OTHER_TRADER =
  'This agent is registered for another trader. Make the relayer your delegate on the chain and approve again; an agent that acted for the other trader is moved by its own signature, with POST /v1/{chain}/agents.'

/** The two parts of an `agentName`. */
interface ParsedAgentName {
  readonly name: string
  /** Epoch ms; null = never. */
  readonly expiresAt: number | null
}

const VALID_UNTIL = /^(.*?)(?:^| )valid_until (\d+)$/s

/** Splits an expiry from the name that it follows, as in `bot valid_until 1767225600000`. */
export function parseAgentName(text: string): ParsedAgentName {
  const match = VALID_UNTIL.exec(text)
  const [, name = text, digits] = match ?? []
  if (name.length > MAX_AGENT_NAME_CHARS) {
    throw new ExchangeErr(`agentName may have at most ${MAX_AGENT_NAME_CHARS} characters before valid_until.`)
  }
  return { name, expiresAt: digits === undefined ? null : expiryOf(digits) }
}

/** Reads an expiry. Refuses 0, which elsewhere means no expiry, the opposite of what the client wrote. */
function expiryOf(digits: string): number {
  const expiresAt = Number(digits)
  if (Number.isSafeInteger(expiresAt) && expiresAt > 0) return expiresAt
  throw new ExchangeErr('valid_until must be a time in milliseconds.')
}
