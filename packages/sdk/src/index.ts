export { missingAllowance, type Allowance, type ApproveOptions } from './account/approve.ts'
export type { AccountReads, EventPage, Page, PageOptions } from './account/createAccount.ts'
export { FULL_SCOPE, verifyDelegation } from './agents/createAgents.ts'
export type {
  Agent,
  AgentAnswer,
  Agents,
  AuthorizeOptions,
  DelegateOptions,
  Delegation,
  IssuedApiKey,
  RevokedAgent,
} from './agents/createAgents.ts'
export * from './createBezelClient.ts'
export * from './errors/bezelError.ts'
export * from './errors/orderErrors.ts'
export * from './errors/positionErrors.ts'
export * from './errors/serviceErrors.ts'
export * from './errors/transactionErrors.ts'
export { DEFAULT_HEADER_PREFIX } from './http/createHeaders.ts'
export type { ChainInfo } from './http/createSigning.ts'
export type { CandleRange, MarketFunding, Markets } from './markets/createMarkets.ts'
export type { Orders } from './orders/createOrders.ts'
export type { VerifyOptions } from './orders/executeWrite.ts'
export type { FilledOrder, TrackedOrder, WaitOptions } from './orders/trackOrder.ts'
export type { Positions, SentPositionReclaim, SentPositionUpdate } from './positions/createPositions.ts'
export type { UpdateWaitOptions } from './positions/waitForUpdate.ts'
export * from './senders/transactionSender.ts'
export { authMessage, signRequest, streamPath } from './signing/signRequest.ts'
export type {
  AuthMessage,
  AuthMessageOptions,
  KeyAuthMessage,
  RequestProof,
  SignedAuthMessage,
  SignRequestOptions,
} from './signing/signRequest.ts'
export * from './signing/typedData.ts'
export type { ClientStream } from './stream/clientStream.ts'
export type { EventsOptions } from './stream/createEvents.ts'
export type { LogOptions, Stream, StreamSettings, SubscribeOptions } from './stream/createStream.ts'
export type { StreamStatus } from './stream/line.ts'
export type { StreamSubscription } from './stream/reader.ts'
export type { WebSocketClass, WebSocketLike } from './stream/socket.ts'
export type * from './stream/streamEvents.ts'
export * from './verify/verifyContext.ts'
export * from './verify/verifyPrepared.ts'
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
  ApiKey,
  AuditKind,
  AuditLogEntry,
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
  PendingUpdate,
  Position,
  PreparedOrder,
  PreparedPosition,
  PreparedTransaction,
  MarketPrice as Price,
  RecentTrade,
  Side,
  SigningDomain,
  TransactionRequest,
  UpdateOrderRequest,
  UpdatePositionRequest,
  Warning,
} from '@bezel/protocol/wire'
