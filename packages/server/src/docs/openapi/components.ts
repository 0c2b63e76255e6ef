import {
  AccountEventSchema,
  AccountSchema,
  AddressSchema,
  AgentAnswerSchema,
  AgentSchema,
  AgentScopeSchema,
  AmountSchema,
  ApiKeyAnswerSchema,
  BalanceSchema,
  BookLevelSchema,
  CandleSchema,
  ChainSlugSchema,
  ClosePositionRequestSchema,
  Closed,
  CreateAgentRequestSchema,
  CreateOrderRequestSchema,
  DecimalSchema,
  DismissNotificationRequestSchema,
  ERRORS,
  EventPageSchema,
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
  NotificationErrorSchema,
  NotificationListSchema,
  NotificationSchema,
  OrderBookSchema,
  OrderListSchema,
  OrderPageSchema,
  OrderSchema,
  PositionListSchema,
  PositionSchema,
  PreparedOrderSchema,
  PreparedPositionSchema,
  PreparedTransactionSchema,
  PriceSchema,
  RecentTradeSchema,
  RevokeAgentAnswerSchema,
  RevokeAgentRequestSchema,
  SeqSchema,
  SideSchema,
  SubmitOrderRequestSchema,
  TimestampSchema,
  TransactionRequestSchema,
  UpdateOrderRequestSchema,
  UpdatePositionRequestSchema,
  type ErrorCode,
} from '@bezel/protocol'
import { Type, type TSchema } from '@sinclair/typebox'

/** The JSON body of every error. */
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

/** The named schemas. Wherever a route uses one of them, the reference refers to it by name. */
export const COMPONENTS: Readonly<Record<string, Component>> = {
  Address: { schema: AddressSchema },
  Amount: {
    schema: AmountSchema,
    description: 'Amount of a token, in whole tokens. An unlimited allowance has many digits.',
  },
  ChainSlug: { schema: ChainSlugSchema },
  Decimal: { schema: DecimalSchema, description: 'A decimal number. Answers have no exponent and no trailing zeros.' },
  Hex: { schema: HexSchema },
  Id: { schema: IdSchema, description: 'Id of an order or a position. It never changes and is never used again.' },
  MarketSymbol: { schema: MarketSymbolSchema },
  Seq: { schema: SeqSchema },
  Side: { schema: SideSchema },
  Timestamp: { schema: TimestampSchema, description: 'Epoch milliseconds.' },

  Error: { schema: ErrorSchema, description: '`code` is stable; `message` is for people and must not be matched.' },

  Market: { schema: MarketSchema },
  MarketCollateral: { schema: MarketCollateralSchema },
  Funding: { schema: FundingSchema, description: 'Rates are in percent per hour, positive when the position pays.' },
  MarketFunding: {
    schema: MarketFundingSchema,
    description: 'Rates are in percent per hour, positive when the position pays.',
  },
  Price: { schema: PriceSchema },
  OrderBook: {
    schema: OrderBookSchema,
    description: 'Best levels first. Spread, skew and recent volume are not included.',
  },
  BookLevel: {
    schema: BookLevelSchema,
    description: '`size` is in base units; `cumulativeUsd` is the depth from the mark to this level.',
  },
  Candle: { schema: CandleSchema, description: 'Mark prices from `time` on, for the length of the interval.' },
  RecentTrade: {
    schema: RecentTradeSchema,
    description: '`side` is the side of the position; `sizeUsd` is size × price.',
  },

  Account: { schema: AccountSchema },
  AccountEvent: {
    schema: AccountEventSchema,
    description:
      'A `positions` event has all open positions. `reverted` is true when a reorganisation of the chain undid earlier state.',
  },
  EventPage: { schema: EventPageSchema, description: '`lastSeq` is the `seq` of the last event of the whole log.' },
  Balance: { schema: BalanceSchema, description: '`allowance` is the amount that the trader lets the Diamond take.' },
  Agent: { schema: AgentSchema },
  AgentScope: {
    schema: AgentScopeSchema,
    description: 'The actions that the trader lets the agent do through this service.',
  },
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
  PreparedTransaction: {
    schema: PreparedTransactionSchema,
    description: 'A transaction for the agent to sign and send unchanged.',
  },
  PreparedOrder: { schema: PreparedOrderSchema, description: '`transaction` is null when nothing has to be sent.' },
  CreateOrderRequest: { schema: CreateOrderRequestSchema },
  UpdateOrderRequest: { schema: UpdateOrderRequestSchema },
  SubmitOrderRequest: { schema: SubmitOrderRequestSchema },

  Position: { schema: PositionSchema, description: 'An unset `sl` or `tp` is "0". A positive fee is paid.' },
  PositionList: { schema: PositionListSchema },
  PreparedPosition: { schema: PreparedPositionSchema },
  ClosePositionRequest: { schema: ClosePositionRequestSchema },
  UpdatePositionRequest: { schema: UpdatePositionRequestSchema },

  Notification: {
    schema: NotificationSchema,
    description: 'The text is for people. `link` is a path of this service.',
  },
  NotificationList: { schema: NotificationListSchema },
  NotificationError: { schema: NotificationErrorSchema, description: '`error` is a code of the error table.' },
  DismissNotificationRequest: { schema: DismissNotificationRequestSchema },
}
