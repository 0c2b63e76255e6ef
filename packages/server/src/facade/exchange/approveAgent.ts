import { ApiError, parseAddress, type Address, MAX_AGENT_NAME_CHARS } from '@bezel/protocol'
import { checkRegistration, refuseManyAgents, type Registry } from '../../agents/registry.ts'
import type { ServedChain } from '../../chain/servedChain.ts'
import type { SignatureEngine } from '../../signatures/recovery.ts'
import type { AgentRecord } from '../../trading/agentRecord.ts'
import type { Envelope } from '../signing/envelope.ts'
import type { FacadeNonces } from '../signing/facadeNonces.ts'
import { HYPERLIQUID_CHAINS, type PhantomSource } from '../signing/phantomAgent.ts'
import { userSignedSigner } from '../signing/signers.ts'
import { ExchangeErr } from './errStrings.ts'
import { nonceUsed, requireTimely } from './requireAgent.ts'

/** The dependencies of `approveAgent`. */
export interface ApproveAgentParts {
  readonly chain: Pick<ServedChain, 'slug'>
  readonly registry: Registry
  readonly nonces: FacadeNonces
  readonly engine: SignatureEngine
  readonly sources: readonly PhantomSource[]
  readonly nowMs: number
}

/**
 * Registers an agent for the master wallet that the signature recovers to, with full trading scope and the relayer as
 * its sender. The rules are those of a native registration that the agent itself did not sign. A wrong signature
 * recovers to an address whose key nobody has, which is harmless: nobody can make the relayer the delegate of that
 * address. Throws an `ExchangeErr`.
 */
export async function approveAgent(of: ApproveAgentParts, envelope: Envelope): Promise<AgentRecord> {
  const next = registrationOf(of, envelope)
  requireTimely(envelope, of.nowMs)
  if (!(await of.nonces.use(next.trader, envelope.nonce))) throw nonceUsed(envelope.nonce)
  return refusalsAsErr(
    of.registry.changeAgent(next.chain, next.agent, (stored) => {
      checkRegistration(stored, next, of.nowMs)
      refuseManyAgents(of.registry, next, of.nowMs)
      return stored?.trader === next.trader ? { ...next, createdAtMs: stored.createdAtMs } : next
    }),
  )
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
async function refusalsAsErr(change: Promise<AgentRecord>): Promise<AgentRecord> {
  try {
    return await change
  } catch (error) {
    throw error instanceof ApiError ? new ExchangeErr(error.message, { cause: error }) : error
  }
}

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
