import {
  AccountEventSchema,
  AccountSchema,
  AddressSchema,
  AgentAnswerSchema,
  AgentSchema,
  AgentScopeSchema,
  AmountSchema,
  ApiKeyAnswerSchema,
  ApiKeyListSchema,
  ApiKeySchema,
  RevokeApiKeyAnswerSchema,
  AuditLogEntrySchema,
  AuditPageSchema,
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
  PendingUpdateSchema,
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
  WarningSchema,
  type ErrorCode,
} from '@bezel/protocol'
import { Type, type TSchema } from '@sinclair/typebox'

/** The JSON body of every error. */
export const ErrorSchema = Closed({
  code: Type.Union((Object.keys(ERRORS) as ErrorCode[]).map((code) => Type.Literal(code))),
  message: Type.String(),
  details: Type.Object(
    {
      requestId: Type.String({ description: 'Id of the request, as in the header `x-request-id`.' }),
      docs: Type.String({ description: 'Path of the paragraph about the error in the served documentation.' }),
    },
    { additionalProperties: true },
  ),
})

/** A schema with a name of its own in the reference. */
export interface Component {
  readonly schema: TSchema
  readonly description?: string
}

const HOURLY_RATES =
  'Rates are in percent per hour, positive when the position pays. `borrowingRateHourly` is the sum of both generations ' +
  'of borrowing. The first one is charged per block: it is shown for the pace of the last 1,000 blocks and the present ' +
  'open interest, and for the side that pays more.'

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
  Funding: { schema: FundingSchema, description: HOURLY_RATES },
  MarketFunding: { schema: MarketFundingSchema, description: HOURLY_RATES },
  Price: { schema: PriceSchema, description: '`updatedAt` is the time at which the price came from the feed.' },
  OrderBook: {
    schema: OrderBookSchema,
    description: 'Best levels first, outside the spread. Recent volume is included, the skew is not.',
  },
  BookLevel: {
    schema: BookLevelSchema,
    description:
      '`price` is where the level begins; `size` is in base units; `cumulativeUsd` is the depth from the best price to the end of the level.',
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
  AuditLogEntry: {
    schema: AuditLogEntrySchema,
    description: 'A change of the rights on an account. `detail` has more, by the kind of the entry.',
  },
  AuditPage: { schema: AuditPageSchema },
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
  ApiKey: { schema: ApiKeySchema },
  ApiKeyList: { schema: ApiKeyListSchema },
  RevokeApiKeyAnswer: { schema: RevokeApiKeyAnswerSchema },
  ApiKeyAnswer: { schema: ApiKeyAnswerSchema },

  Order: { schema: OrderSchema, description: '`collateral` is the symbol of the token.' },
  Fill: { schema: FillSchema, description: '`collateral` and `feeCollateral` are amounts of the collateral.' },
  OrderList: { schema: OrderListSchema },
  OrderPage: { schema: OrderPageSchema },
  FillHistoryEntry: {
    schema: FillHistoryEntrySchema,
    description:
      'An execution, or a refusal that cost something. Amounts are in `collateralSymbol`; a positive fee is paid. `pnl` is the price profit of the closed part, before fees. `feeCollateral` is the trading fee, `fundingFee` and `borrowingFee` are the holding fees that the entry realised. `deposit` left the wallet for it, `payout` reached the wallet with it. `netPnl` is what the account gained: pnl - fees - `forfeited`. `forfeited` is "0" but for a liquidation and a payout that was floored at 0. Over all entries of a position `netPnl` adds up to payouts - deposits, to the last unit. `TradeOpenRefused` and `TradeUpdateRefused` have size and pnl "0"; of a refused open `positionId` is the id of the order. `orderId` and `clientId` are null for a change of leverage or collateral, which is no order. All fields from `orderId` on are null in entries that were stored before they existed.',
  },
  FillPage: { schema: FillPageSchema },
  PreparedTransaction: {
    schema: PreparedTransactionSchema,
    description: 'A transaction for the agent to sign and send unchanged.',
  },
  PreparedOrder: {
    schema: PreparedOrderSchema,
    description: '`transaction` is null when nothing has to be sent. `warnings` is absent when there are none.',
  },
  Warning: {
    schema: WarningSchema,
    description:
      'A difference between what was asked and what will happen: `asked` is the value of `field` in the request, `value` what it becomes. `sl_clamped`: the contracts keep a stop loss away from the liquidation price. `collateral_rounded`: collateral moves in steps of 0.001 of leverage. `price_old`: the price that was used is older than 10 seconds. `closing_slippage_kept`: the contracts keep the slippage of a close with the position, and the stop loss and take profit execute only within it. `closing_slippage_reset`: such a slippage is put back to the default of 1 percent with the stops that are set.',
  },
  CreateOrderRequest: { schema: CreateOrderRequestSchema },
  UpdateOrderRequest: { schema: UpdateOrderRequestSchema },
  SubmitOrderRequest: { schema: SubmitOrderRequestSchema },

  Position: {
    schema: PositionSchema,
    description:
      'An unset `sl` or `tp` is "0". A positive fee is paid. `priceAt` is the time at which the mark that was used came from the feed: a quiet market keeps its last mark. It is 0 while the feed has no price of the market, and the position is then valued at its entry price. `pendingUpdate` is the change that waits for the oracle, null when none does. `realized` is the realised profit less fees that the position carries and that was not paid out yet; it is part of `unrealizedPnl`.',
  },
  PendingUpdate: {
    schema: PendingUpdateSchema,
    description:
      'A change of a position that waits for the oracle. `leverage` is the new one; `collateralDelta` is the amount that the wallet gave, negative for what it is to get. From block `timesOutAtBlock` on it can be reclaimed.',
  },
  PositionList: { schema: PositionListSchema },
  PreparedPosition: {
    schema: PreparedPositionSchema,
    description: '`sl` and `tp` are what the contracts will keep. `warnings` is absent when there are none.',
  },
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
