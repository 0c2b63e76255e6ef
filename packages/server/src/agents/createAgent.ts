import {
  ApiError,
  parseAddress,
  parseDecimal,
  type Address,
  type AgentScope,
  type CreateAgentRequest,
} from '@bezel/protocol'
import { agentAuthorization } from '../signatures/digests.ts'
import { checkSignature } from '../signatures/recovery.ts'
import type { AuditOrigin } from '../store/auditStore.ts'
import type { AgentRecord } from '../trading/agentRecord.ts'
import { nearestMarket } from '../trading/market/marketNotFound.ts'
import type { ChainAgents } from './chainAgents.ts'
import {
  invalidStruct,
  requireMasterSignature,
  type MasterSignatureOptions,
  type MasterStruct,
} from './masterSignature.ts'
import { registerAgent, type RegistrationParts } from './registerAgent.ts'
import { notReady } from '../ground/unavailable.ts'

/** The parts of a chain that an authorisation needs. */
export type AuthorizationParts = RegistrationParts & Pick<ChainAgents, 'chain' | 'domain' | 'markets'>

export interface RegistrationOptions extends MasterSignatureOptions {
  /** Charges the limit of registrations, once the signatures are good. Throws `RATE_LIMITED`. */
  readonly chargeRegistration: () => Promise<void>
  /** Network that the request came from (`registrationNetworkOf`). */
  readonly network: string
  /** The request, for the audit log. */
  readonly origin?: AuditOrigin | undefined
}

/** Registers an agent, or replaces its trader's earlier registration of it, which also lifts a revocation. */
export async function createAgent(
  of: AuthorizationParts,
  body: CreateAgentRequest,
  options: RegistrationOptions,
): Promise<AgentRecord> {
  const { agent, trader } = addresses(body)
  refuseBadScope(body.scope, of.markets, options.nowMs)
  const { timestamp: timestampMs, signature } = body
  const message = { ...body.scope, agent, name: body.name ?? null, timestamp: timestampMs }
  const signed = agentAuthorization(of.domain, message)
  const struct: MasterStruct = { ...signed, operationId: 'createAgent', trader, signature, timestampMs }
  await requireMasterSignature(struct, options)
  const agentSigned = isSignedByAgent(body.agentSignature, agent, struct, options) || agent === trader
  await options.chargeRegistration()
  const { nowMs, network, origin } = options
  const record: AgentRecord = {
    chain: of.chain.slug,
    agent,
    trader,
    name: body.name ?? '',
    scope: body.scope,
    mode: 'self',
    agentSigned,
    revoked: false,
    standing: 'claimed',
    createdAtMs: nowMs,
    signedAtMs: timestampMs,
  }
  return registerAgent(of, { record, network, cause: { ...origin, nowMs } })
}

/**
 * Returns true when the agent signed too. Throws when a wrong agent signature was sent: to ignore it would silently
 * drop the protection it was meant to give.
 */
function isSignedByAgent(
  signature: string | undefined,
  agent: Address,
  struct: MasterStruct,
  options: MasterSignatureOptions,
): boolean {
  if (signature === undefined) return false
  const { isValid, signer } = checkSignature(options.engine, { digest: struct.digest, signature, address: agent })
  if (isValid) return true
  throw invalidStruct({ ...struct, signer, address: agent }, options)
}

function addresses(body: CreateAgentRequest): { agent: Address; trader: Address } {
  const agent = parseAddress(body.agent)
  const trader = parseAddress(body.trader)
  if (agent === undefined || trader === undefined)
    throw new ApiError('VALIDATION_ERROR', 'agent and trader must be addresses.')
  return { agent, trader }
}

/**
 * Checks what the schema can't express: limits are not negative, markets are listed and named once, and the agent can
 * do something at all.
 */
export function refuseBadScope(
  { markets, maxLeverage, dailySpendCapUsd, expiresAt }: AgentScope,
  listedMarkets: ChainAgents['markets'],
  nowMs: number,
): void {
  const issues: { path: string; message: string }[] = []
  const note = (field: keyof AgentScope, message: string): void => {
    issues.push({ path: `body.scope.${field}`, message })
  }
  for (const [field, value] of Object.entries({ maxLeverage, dailySpendCapUsd })) {
    const decimal = value === null ? '1' : parseDecimal(value)
    if (decimal === undefined || decimal.startsWith('-')) {
      note(field as keyof AgentScope, 'must be a decimal that is not negative')
    } else if (field === 'maxLeverage' && Number(decimal) === 0) {
      note('maxLeverage', 'must be above 0, because the agent could do nothing')
    }
  }
  if (expiresAt !== null && expiresAt <= nowMs) note('expiresAt', passedExpiry(expiresAt, nowMs))
  if (markets !== 'all') {
    if (markets.length === 0) note('markets', 'must name a market, or be "all"')
    if (new Set(markets).size !== markets.length) note('markets', 'names a market twice')
    const listed = listedMarkets()
    if (listed === undefined) throw notReady('starting')
    const unlisted = markets.find((market) => !listed.has(market))
    if (unlisted !== undefined) note('markets', unlistedMarket([...listed.keys()], unlisted))
  }
  if (issues.length === 0) return
  const words = issues.map(({ path, message }) => `${path.replace('body.', '')} ${message}`)
  throw new ApiError('VALIDATION_ERROR', `The scope is not valid: ${words.join('; ')}.`, { issues })
}

/** Returns the words about an expiry in the past. Seconds in place of milliseconds are the usual mistake. */
function passedExpiry(expiresAt: number, nowMs: number): string {
  const isSeconds = expiresAt < nowMs / 100 && expiresAt * 1_000 > nowMs
  const hint = isSeconds ? '; it looks like seconds: send and sign epoch milliseconds' : ''
  return `must be after server time, ${nowMs} (${new Date(nowMs).toISOString()})${hint}`
}

function unlistedMarket(listed: readonly string[], market: string): string {
  const nearest = nearestMarket(listed, market)
  const guess = nearest === undefined ? 'GET /v1/{chain}/markets lists all' : `did you mean ${nearest}?`
  return `names ${market}, which is not listed on this chain (${guess})`
}
