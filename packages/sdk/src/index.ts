export * from './account/createAccount.ts'
export * from './agents/createAgents.ts'
export * from './agents/verifyDelegation.ts'
export * from './createBezelClient.ts'
export * from './errors/bezelApiError.ts'
export * from './errors/bezelConfigError.ts'
export * from './errors/bezelError.ts'
export * from './errors/bezelNetworkError.ts'
export * from './errors/broadcastError.ts'
export * from './errors/clockSkewError.ts'
export * from './errors/delegationTimeoutError.ts'
export * from './errors/fillTimeoutError.ts'
export * from './errors/orderNotFilledError.ts'
export * from './errors/orderSubmitReportError.ts'
export * from './errors/preparationExpiredError.ts'
export * from './errors/unverifiedTransactionError.ts'
export * from './errors/wrongChainError.ts'
export * from './errors/wrongDiamondError.ts'
export * from './http/chainInfo.ts'
export { DEFAULT_HEADER_PREFIX } from './http/createHeaders.ts'
export * from './markets/createMarkets.ts'
export type { Orders } from './orders/createOrders.ts'
export type { VerifyOptions } from './orders/executeWrite.ts'
export type { FilledOrder, TrackedOrder, WaitOptions } from './orders/trackOrder.ts'
export type { Positions, SentPositionUpdate } from './positions/createPositions.ts'
export * from './senders/privateKeySender.ts'
export * from './senders/transactionSender.ts'
export * from './senders/viemSender.ts'
export * from './signing/agentAuthorizationTypedData.ts'
export * from './signing/agentRevocationTypedData.ts'
export * from './signing/apiKeyIssueTypedData.ts'
export * from './signing/authMessage.ts'
export * from './signing/bodyHashOf.ts'
export * from './signing/requestTypedData.ts'
export * from './signing/signer.ts'
export * from './signing/signRequest.ts'
export type { ClientStream } from './stream/clientStream.ts'
export type { EventsOptions } from './stream/createEvents.ts'
export type { LogOptions, Stream, StreamSettings, SubscribeOptions } from './stream/createStream.ts'
export type { StreamSubscription } from './stream/reader.ts'
export type * from './stream/streamEvents.ts'
export type { StreamStatus } from './stream/streamStatus.ts'
export type { WebSocketClass, WebSocketLike } from './stream/webSocketClass.ts'
export * from './verify/verifyContext.ts'
export * from './verify/verifyPrepared.ts'
export * from './verify/writeRequest.ts'
export {
  AGENT_AUTHORIZATION_FIELDS,
  AGENT_REVOCATION_FIELDS,
  API_KEY_ISSUE_FIELDS,
  CHAINS,
  CHAIN_SLUGS,
  EMPTY_BODY_HASH,
  ERRORS,
  REQUEST_FIELDS,
} from '@bezel/protocol/wire'
export type {
  Account,
  AccountEvent,
  AgentMode,
  AgentScope,
  AgentStatus,
  Balance,
  Candle,
  CandleInterval,
  ChainSlug,
  ClosePositionRequest,
  CreateOrderRequest,
  ErrorCode,
  Fill,
  FillAction,
  FillHistoryEntry,
  Funding,
  LogChannel,
  MarketCollateral,
  MarketRecord,
  Order,
  OrderBook,
  OrderReason,
  OrderStatus,
  OrderType,
  Position,
  PreparedOrder,
  PreparedPosition,
  PreparedTransaction,
  Price,
  RecentTrade,
  Side,
  TransactionRequest,
  UpdateOrderRequest,
  UpdatePositionRequest,
} from '@bezel/protocol/wire'
