import {
  ApiError,
  parseAddress,
  parseDecimal,
  type Address,
  type AgentScope,
  type CreateAgentRequest,
  type SigningDomain,
} from '@bezel/protocol'
import { agentAuthorization } from '../signatures/digests.ts'
import { checkSignature } from '../signatures/recovery.ts'
import type { AgentRecord } from '../trading/agentRecord.ts'
import {
  invalidStruct,
  requireMasterSignature,
  type MasterSignatureOptions,
  type MasterStruct,
} from './masterSignature.ts'
import { checkRegistration, refuseManyAgents, type Registry } from './registry.ts'
import type { ServedChain } from '../chain/servedChain.ts'

/** Registers an agent, or replaces its trader's earlier registration of it, which also lifts a revocation. */
export async function createAgent(
  of: { readonly chain: ServedChain; readonly domain: SigningDomain; readonly registry: Registry },
  body: CreateAgentRequest,
  options: MasterSignatureOptions,
): Promise<AgentRecord> {
  const { agent, trader } = addresses(body)
  refuseBadScope(body.scope)
  const { timestamp: timestampMs, signature } = body
  const message = { ...body.scope, agent, name: body.name ?? null, timestamp: timestampMs }
  const signed = agentAuthorization(of.domain, message)
  const struct: MasterStruct = { ...signed, operationId: 'createAgent', trader, signature, timestampMs }
  await requireMasterSignature(struct, options)
  const agentSigned = isSignedByAgent(body.agentSignature, agent, struct, options) || agent === trader
  const next: AgentRecord = {
    chain: of.chain.slug,
    agent,
    trader,
    name: body.name ?? '',
    scope: body.scope,
    mode: 'self',
    agentSigned,
    revoked: false,
    createdAtMs: options.nowMs,
    signedAtMs: timestampMs,
  }
  return of.registry.changeAgent(of.chain.slug, agent, (stored) => {
    checkRegistration(stored, next, options.nowMs)
    refuseManyAgents(of.registry, next, options.nowMs)
    return stored?.trader === trader ? { ...next, createdAtMs: stored.createdAtMs } : next
  })
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

/** Checks what the schema can't express: limits are not negative and no market is named twice. */
function refuseBadScope({ markets, maxLeverage, dailySpendCapUsd }: AgentScope): void {
  const issues: { path: string; message: string }[] = []
  for (const [name, value] of Object.entries({ maxLeverage, dailySpendCapUsd })) {
    if (value === null) continue
    const decimal = parseDecimal(value)
    if (decimal === undefined || decimal.startsWith('-')) {
      issues.push({ path: `body.scope.${name}`, message: 'must be a decimal that is not negative' })
    }
  }
  if (markets !== 'all' && new Set(markets).size !== markets.length) {
    issues.push({ path: 'body.scope.markets', message: 'names a market twice' })
  }
  if (issues.length > 0) throw new ApiError('VALIDATION_ERROR', 'The scope is not valid.', { issues })
}
