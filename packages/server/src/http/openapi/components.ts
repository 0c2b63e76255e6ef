import {
  AccountSchema,
  AddressSchema,
  AgentAnswerSchema,
  AgentSchema,
  AgentScopeSchema,
  AmountSchema,
  ApiKeyAnswerSchema,
  BalanceSchema,
  ChainSlugSchema,
  ClosePositionRequestSchema,
  Closed,
  CreateAgentRequestSchema,
  CreateOrderRequestSchema,
  DecimalSchema,
  ERRORS,
  FillHistoryEntrySchema,
  FillPageSchema,
  FillSchema,
  FundingSchema,
  HexSchema,
  IdSchema,
  IssueApiKeyRequestSchema,
  MarketCollateralSchema,
  MarketFundingSchema,
  MarketSchema,
  MarketSymbolSchema,
  OrderListSchema,
  OrderPageSchema,
  OrderSchema,
  PositionListSchema,
  PositionSchema,
  PreparedOrderSchema,
  PreparedPositionSchema,
  PreparedTransactionSchema,
  PriceSchema,
  RevokeAgentAnswerSchema,
  RevokeAgentRequestSchema,
  SideSchema,
  SubmitOrderRequestSchema,
  TimestampSchema,
  TransactionRequestSchema,
  UpdateOrderRequestSchema,
  UpdatePositionRequestSchema,
  type ErrorCode,
} from '@bezel/protocol'
import { Type, type TSchema } from '@sinclair/typebox'

/** The JSON of every error. */
export const ErrorSchema = Closed({
  code: Type.Union((Object.keys(ERRORS) as ErrorCode[]).map((code) => Type.Literal(code))),
  message: Type.String(),
  details: Type.Optional(Type.Object({}, { additionalProperties: true })),
})

/** A schema with a name of its own in the reference. */
export interface Component {
  readonly schema: TSchema
  readonly description?: string
}

/** Wherever a route uses one of these, the reference names it. */
export const COMPONENTS: Readonly<Record<string, Component>> = {
  Address: { schema: AddressSchema },
  Amount: { schema: AmountSchema, description: 'Of a token, in whole tokens. An unlimited allowance is a long one.' },
  ChainSlug: { schema: ChainSlugSchema },
  Decimal: { schema: DecimalSchema, description: 'A decimal number. Answers have no exponent and no trailing zeros.' },
  Hex: { schema: HexSchema },
  Id: { schema: IdSchema, description: 'Of an order or a position. Never changes and is never used again.' },
  MarketSymbol: { schema: MarketSymbolSchema },
  Side: { schema: SideSchema },
  Timestamp: { schema: TimestampSchema, description: 'Epoch milliseconds.' },

  Error: { schema: ErrorSchema, description: '`code` is stable; `message` is for people and never to be matched.' },

  Market: { schema: MarketSchema },
  MarketCollateral: { schema: MarketCollateralSchema },
  Funding: { schema: FundingSchema, description: 'Rates are percent per hour, positive when paid.' },
  MarketFunding: { schema: MarketFundingSchema, description: 'Rates are percent per hour, positive when paid.' },
  Price: { schema: PriceSchema },

  Account: { schema: AccountSchema },
  Balance: { schema: BalanceSchema, description: '`allowance` is what the trader lets the Diamond take.' },
  Agent: { schema: AgentSchema },
  AgentScope: { schema: AgentScopeSchema, description: 'What the trader lets the agent do through this service.' },
  AgentAnswer: { schema: AgentAnswerSchema },
  TransactionRequest: { schema: TransactionRequestSchema, description: 'A transaction for the trader to send.' },
  CreateAgentRequest: { schema: CreateAgentRequestSchema },
  RevokeAgentRequest: { schema: RevokeAgentRequestSchema },
  RevokeAgentAnswer: { schema: RevokeAgentAnswerSchema },
  IssueApiKeyRequest: { schema: IssueApiKeyRequestSchema },
  ApiKeyAnswer: { schema: ApiKeyAnswerSchema },

  Order: { schema: OrderSchema, description: '`collateral` is the symbol of the token.' },
  Fill: { schema: FillSchema, description: '`collateral` and `feeCollateral` are amounts of the collateral.' },
  OrderList: { schema: OrderListSchema },
  OrderPage: { schema: OrderPageSchema },
  FillHistoryEntry: { schema: FillHistoryEntrySchema },
  FillPage: { schema: FillPageSchema },
  PreparedTransaction: { schema: PreparedTransactionSchema, description: 'For the agent to sign and send unchanged.' },
  PreparedOrder: { schema: PreparedOrderSchema, description: '`transaction` is null when nothing has to be sent.' },
  CreateOrderRequest: { schema: CreateOrderRequestSchema },
  UpdateOrderRequest: { schema: UpdateOrderRequestSchema },
  SubmitOrderRequest: { schema: SubmitOrderRequestSchema },

  Position: { schema: PositionSchema, description: 'An unset `sl` or `tp` is "0". A positive fee is paid.' },
  PositionList: { schema: PositionListSchema },
  PreparedPosition: { schema: PreparedPositionSchema },
  ClosePositionRequest: { schema: ClosePositionRequestSchema },
  UpdatePositionRequest: { schema: UpdatePositionRequestSchema },
}
