import { ApiError, parseAddress, type Address } from '@bezel/protocol'
import type { AgentRecord } from '../../trading/agentRecord.ts'
import { checkRegistration, refuseManyAgents } from '../../agents/register.ts'
import type { Registry } from '../../agents/registry.ts'
import type { ServedChain } from '../../chain/servedChain.ts'
import type { SignatureEngine } from '../../signatures/signatureEngine.ts'
import type { Envelope } from '../signing/envelope.ts'
import type { FacadeNonces } from '../signing/facadeNonces.ts'
import { HYPERLIQUID_CHAINS, type PhantomSource } from '../signing/phantomSource.ts'
import { userSignedSigner } from '../signing/userSignedSigner.ts'
import { ExchangeErr } from './exchangeErr.ts'
import { parseAgentName } from './parseAgentName.ts'
import { nonceUsed, requireTimely } from './requireTimely.ts'

/** What registering an agent through the facade works with. */
export interface ApproveAgentParts {
  readonly chain: Pick<ServedChain, 'slug'>
  readonly registry: Registry
  readonly nonces: FacadeNonces
  readonly engine: SignatureEngine
  readonly sources: readonly PhantomSource[]
  readonly nowMs: number
}

/**
 * Registers an agent for the master wallet that the signature recovers to, with full trading scope and the relayer as its sender. The rules are those of
 * a native registration that the agent itself did not sign. A wrong signature registers the agent for nobody's address, which is harmless:
 * nobody can make the relayer that address's delegate. Throws an `ExchangeErr`.
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

/** The record the action asks for. Its nonce is when the master wallet signed, so an older one never replaces a newer one. */
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

/** Absent and null are no name. */
function nameOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  throw new ExchangeErr('agentName must be a string.')
}

/** The native refusals in the facade's own shape. */
async function refusalsAsErr(change: Promise<AgentRecord>): Promise<AgentRecord> {
  try {
    return await change
  } catch (error) {
    throw error instanceof ApiError ? new ExchangeErr(error.message, { cause: error }) : error
  }
}
