import { Type, type Static } from '@sinclair/typebox'
import {
  AddressSchema,
  Closed,
  DecimalSchema,
  HexSchema,
  IdSchema,
  MarketSymbolSchema,
  Nullable,
  TimestampSchema,
} from './scalars.ts'

export const MAX_AGENT_NAME_CHARS = 32
export const MAX_KEY_LABEL_CHARS = 64
/** The greatest number of markets in a scope; who trades more of them takes `all`. */
export const MAX_SCOPE_MARKETS = 64

/** The limits that a trader sets for an agent at the service. The chain itself knows only all or nothing. */
export const AgentScopeSchema = Closed({
  markets: Type.Union([Type.Literal('all'), Type.Array(MarketSymbolSchema, { maxItems: MAX_SCOPE_MARKETS })]),
  maxLeverage: Nullable(DecimalSchema),
  dailySpendCapUsd: Nullable(DecimalSchema),
  // At least 1, because 0 would be signed like null and mean the opposite.
  expiresAt: Nullable(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
  permissions: Type.Union([Type.Literal('trade'), Type.Literal('read')]),
})
export type AgentScope = Static<typeof AgentScopeSchema>

export const AgentModeSchema = Type.Union([Type.Literal('self'), Type.Literal('relayed')])
export type AgentMode = Static<typeof AgentModeSchema>

export const AgentStatusSchema = Type.Union([
  Type.Literal('pending_delegation'),
  Type.Literal('active'),
  Type.Literal('revoked'),
  Type.Literal('expired'),
])
export type AgentStatus = Static<typeof AgentStatusSchema>

export const AgentSchema = Closed({
  agent: AddressSchema,
  trader: AddressSchema,
  name: Type.String(),
  scope: AgentScopeSchema,
  mode: AgentModeSchema,
  status: AgentStatusSchema,
  createdAt: TimestampSchema,
})

/** A transaction for a wallet to send unchanged; the wallet adds nonce and fees. */
export const TransactionRequestSchema = Closed({ to: AddressSchema, data: HexSchema, chainId: Type.Integer() })
export type TransactionRequest = Static<typeof TransactionRequestSchema>

export const CreateAgentRequestSchema = Closed({
  trader: AddressSchema,
  agent: AddressSchema,
  scope: AgentScopeSchema,
  timestamp: TimestampSchema,
  signature: HexSchema,
  name: Type.Optional(Nullable(Type.String({ maxLength: MAX_AGENT_NAME_CHARS }))),
  agentSignature: Type.Optional(HexSchema),
})
export type CreateAgentRequest = Static<typeof CreateAgentRequestSchema>

/** The answer of createAgent and getAgent. `delegationTx` is null when the agent is the trader. */
export const AgentAnswerSchema = Closed({ agent: AgentSchema, delegationTx: Nullable(TransactionRequestSchema) })

export const RevokeAgentRequestSchema = Closed({
  trader: AddressSchema,
  timestamp: TimestampSchema,
  signature: HexSchema,
})
export type RevokeAgentRequest = Static<typeof RevokeAgentRequestSchema>
/** A transaction of a revoked agent that was sent before it was revoked. */
export const MayBeMinedSchema = Closed({ txHash: HexSchema, orderId: Nullable(IdSchema) })
export type MayBeMined = Static<typeof MayBeMinedSchema>
export const RevokeAgentAnswerSchema = Closed({
  revocationTx: Nullable(TransactionRequestSchema),
  mayStillBeMined: Type.Array(MayBeMinedSchema, {
    description:
      'Transactions that the relayer had sent for the agent. Each is replaced by an empty one with a higher fee, and may be mined before that.',
  }),
})

export const IssueApiKeyRequestSchema = Closed({
  trader: AddressSchema,
  label: Type.String({ minLength: 1, maxLength: MAX_KEY_LABEL_CHARS }),
  timestamp: TimestampSchema,
  signature: HexSchema,
})
export type IssueApiKeyRequest = Static<typeof IssueApiKeyRequestSchema>
/**
 * An API key of a trader, without the key itself. `lastUsedAt` is exact to a minute, or to an hour while the chain
 * knows nothing of the trader, and null before the first use.
 */
export const ApiKeySchema = Closed({
  label: Type.String(),
  createdAt: TimestampSchema,
  lastUsedAt: Nullable(TimestampSchema),
})
export type ApiKey = Static<typeof ApiKeySchema>
export const ApiKeyListSchema = Closed({ data: Type.Array(ApiKeySchema) })
export const RevokeApiKeyAnswerSchema = Closed({ label: Type.String(), trader: AddressSchema })
export const ApiKeyAnswerSchema = Closed({ apiKey: Type.String(), label: Type.String(), trader: AddressSchema })
