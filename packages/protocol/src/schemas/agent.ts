import { Type, type Static } from '@sinclair/typebox'
import {
  AddressSchema,
  Annotated,
  Closed,
  DecimalSchema,
  HexSchema,
  IdSchema,
  MarketSymbolSchema,
  Nullable,
  OneOf,
  TimestampSchema,
} from './scalars.ts'

export const MAX_AGENT_NAME_CHARS = 32
export const MAX_KEY_LABEL_CHARS = 64
/** The greatest number of markets in a scope; who trades more of them takes `all`. */
export const MAX_SCOPE_MARKETS = 64

export const AgentScopeSchema = Closed(
  {
    markets: Type.Union([Type.Literal('all'), Type.Array(MarketSymbolSchema, { maxItems: MAX_SCOPE_MARKETS })]),
    maxLeverage: Nullable(DecimalSchema),
    dailySpendCapUsd: Nullable(DecimalSchema),
    // At least 1, because 0 would be signed like null and mean the opposite.
    expiresAt: Nullable(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
    permissions: OneOf(['trade', 'read']),
  },
  {
    markets: `Markets that the agent may trade: \`all\`, or 1 to ${MAX_SCOPE_MARKETS} listed symbols. Else SCOPE_MARKET_NOT_ALLOWED.`,
    maxLeverage:
      'Greatest leverage of an opening, an increase or a change, as a multiple of the collateral; null for no limit. Else SCOPE_LEVERAGE_EXCEEDED.',
    dailySpendCapUsd:
      'Most notional in USD that the agent may open in one UTC day; null for no limit. What expires, is refused or is cancelled before it fills is given back. Else SCOPE_SPEND_CAP_EXCEEDED.',
    expiresAt: 'Time in epoch milliseconds from which the agent is refused (AGENT_EXPIRED); null for never.',
    permissions:
      '`trade` lets the agent write; `read` lets it sign private reads and the handshake of the WebSocket only.',
  },
  {
    title: 'AgentScope',
    description:
      'The limits that a trader sets for an agent at this service. They are checked when a transaction is prepared; the chain itself knows only all or nothing.',
  },
)
export type AgentScope = Static<typeof AgentScopeSchema>

export const AgentModeSchema = OneOf(['self', 'relayed'], {
  title: 'AgentMode',
  description:
    '`self`: the agent is the delegate on the chain and sends its own transactions. `relayed`: it came through the facade, and the relayer is the delegate.',
})
export type AgentMode = Static<typeof AgentModeSchema>

export const AgentStatusSchema = OneOf(['pending_delegation', 'active', 'revoked', 'expired'], {
  title: 'AgentStatus',
  description:
    "`pending_delegation`: the trader's delegate on the chain is not this agent yet, or not any more; send `delegationTx`. `active`: it can be used. `revoked`: the trader ended it. `expired`: its scope has expired.",
})
export type AgentStatus = Static<typeof AgentStatusSchema>

export const AgentSchema = Closed(
  {
    agent: AddressSchema,
    trader: AddressSchema,
    name: Type.String(),
    scope: AgentScopeSchema,
    mode: AgentModeSchema,
    status: AgentStatusSchema,
    createdAt: TimestampSchema,
  },
  {
    agent: 'Address of the agent, whose key signs requests.',
    trader: 'Address of the trader that it acts for.',
    name: `Name that the trader gave it, at most ${MAX_AGENT_NAME_CHARS} characters; "" when none was given.`,
    scope: 'Limits of the agent at this service.',
    mode: 'The sender of its transactions: the agent itself, or the relayer of the facade.',
    status: 'Usability of the agent now.',
    createdAt: 'Time of its first authorisation, in epoch milliseconds.',
  },
  { title: 'Agent', description: 'A key that acts for a trader. It can trade and never withdraw.' },
)
export type Agent = Static<typeof AgentSchema>

export const TransactionRequestSchema = Closed(
  { to: AddressSchema, data: HexSchema, chainId: Type.Integer() },
  {
    to: 'Contract that the transaction calls.',
    data: 'Calldata, to be sent unchanged.',
    chainId: 'Id of the chain that it is for.',
  },
  {
    title: 'TransactionRequest',
    description:
      "A transaction for the trader's wallet to send unchanged, without value. The wallet adds nonce and fees.",
  },
)
export type TransactionRequest = Static<typeof TransactionRequestSchema>

const SIGNED_AT =
  'Time of the signature in epoch milliseconds, as signed: within 30 s of server time, and later than that of the last accepted one.'

export const CreateAgentRequestSchema = Closed(
  {
    trader: AddressSchema,
    agent: AddressSchema,
    scope: AgentScopeSchema,
    timestamp: TimestampSchema,
    signature: HexSchema,
    name: Type.Optional(Nullable(Type.String({ maxLength: MAX_AGENT_NAME_CHARS }))),
    agentSignature: Type.Optional(HexSchema),
  },
  {
    trader: 'Address of the trader, which signs.',
    agent: 'Address of the agent. With the address of the trader itself no delegation is needed.',
    scope: 'Limits of the agent.',
    timestamp: SIGNED_AT,
    signature: "The trader's EIP-712 signature of `AgentAuthorization`.",
    name: `Name of the agent, at most ${MAX_AGENT_NAME_CHARS} characters. Default: none.`,
    agentSignature:
      "The agent's signature of the same struct. It proves that the key is yours, and takes the agent over from any other trader. Default: none.",
  },
  { title: 'CreateAgentRequest', description: "An authorisation of an agent, signed by the trader's wallet." },
)
export type CreateAgentRequest = Static<typeof CreateAgentRequestSchema>

export const AgentAnswerSchema = Closed(
  { agent: AgentSchema, delegationTx: Nullable(TransactionRequestSchema) },
  {
    agent: 'The agent as it is registered now.',
    delegationTx:
      'The transaction `setTradingDelegate` for the trader to send once on this chain; null when the agent is the trader.',
  },
  { title: 'AgentAnswer', description: 'An agent, and the transaction that makes it the delegate on the chain.' },
)
export type AgentAnswer = Static<typeof AgentAnswerSchema>

export const RevokeAgentRequestSchema = Closed(
  { trader: AddressSchema, timestamp: TimestampSchema, signature: HexSchema },
  {
    trader: 'Address of the trader, which signs.',
    timestamp: SIGNED_AT,
    signature: "The trader's EIP-712 signature of `AgentRevocation`.",
  },
  { title: 'RevokeAgentRequest', description: "A revocation of an agent, signed by the trader's wallet." },
)
export type RevokeAgentRequest = Static<typeof RevokeAgentRequestSchema>

export const MayBeMinedSchema = Closed(
  {
    txHash: Annotated(HexSchema, { examples: ['0xbfd51bf43690c48a0411bc1e9e8ebfd5a62beca29e7f9f4c0f723a09c29e7b9e'] }),
    orderId: Annotated(Nullable(IdSchema), { examples: ['1042'] }),
  },
  {
    txHash: 'Hash of the transaction, 32 bytes.',
    orderId: 'Id of the order that it is for; null when it is for none.',
  },
  { title: 'MayBeMined', description: 'A transaction of a revoked agent that was sent before it was revoked.' },
)
export type MayBeMined = Static<typeof MayBeMinedSchema>

export const RevokeAgentAnswerSchema = Closed(
  { revocationTx: Nullable(TransactionRequestSchema), mayStillBeMined: Type.Array(MayBeMinedSchema) },
  {
    revocationTx:
      'The transaction `removeTradingDelegate` for the trader to send, which ends the delegation on the chain too; null when the agent is the trader.',
    mayStillBeMined:
      'Transactions that the relayer had sent for the agent. Each is replaced by an empty one with a higher fee, and may be mined before that.',
  },
  { title: 'RevokeAgentAnswer', description: 'The end of an agent at this service, and what is left to do.' },
)
export type RevokedAgent = Static<typeof RevokeAgentAnswerSchema>

const LABEL = `Name of the key, 1 to ${MAX_KEY_LABEL_CHARS} characters. A trader has one key under each label.`

export const IssueApiKeyRequestSchema = Closed(
  {
    trader: AddressSchema,
    label: Type.String({ minLength: 1, maxLength: MAX_KEY_LABEL_CHARS }),
    timestamp: TimestampSchema,
    signature: HexSchema,
  },
  {
    trader: 'Address of the trader, which signs.',
    label: `${LABEL} Issuing it again replaces the key.`,
    timestamp: SIGNED_AT,
    signature: "The trader's EIP-712 signature of `ApiKeyIssue`.",
  },
  { title: 'IssueApiKeyRequest', description: "A request for a read-only key, signed by the trader's wallet." },
)
export type IssueApiKeyRequest = Static<typeof IssueApiKeyRequestSchema>

export const ApiKeySchema = Closed(
  { label: Type.String(), createdAt: TimestampSchema, lastUsedAt: Nullable(TimestampSchema) },
  {
    label: LABEL,
    createdAt: 'Time at which it was issued, in epoch milliseconds.',
    lastUsedAt:
      'Time of its last use in epoch milliseconds, exact to a minute, or to an hour while the chain knows nothing of the trader; null before the first use.',
  },
  { title: 'ApiKey', description: 'A read-only key of a trader, without the key itself, which is not kept.' },
)
export type ApiKey = Static<typeof ApiKeySchema>

export const ApiKeyListSchema = Closed(
  { data: Type.Array(ApiKeySchema) },
  { data: "The trader's keys, at most 20." },
  { title: 'ApiKeyList', description: 'The read-only keys of a trader.' },
)

export const RevokeApiKeyAnswerSchema = Closed(
  { label: Type.String(), trader: AddressSchema },
  { label: 'Label of the key that was ended.', trader: 'Address of the trader whose key it was.' },
  { title: 'RevokeApiKeyAnswer', description: 'The end of a read-only key.' },
)

export const ApiKeyAnswerSchema = Closed(
  { apiKey: Type.String(), label: Type.String(), trader: AddressSchema },
  {
    apiKey: 'The key, `bz_` and 43 characters. It is shown only here: keep it.',
    label: LABEL,
    trader: 'Address of the trader whose account it reads.',
  },
  { title: 'ApiKeyAnswer', description: 'A new read-only key.' },
)
export type IssuedApiKey = Static<typeof ApiKeyAnswerSchema>
