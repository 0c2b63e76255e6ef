export { missingAllowance, withRoom } from './account/approve.ts'
export type { Allowance, Approvals, ApproveOptions, PrepareApproveOptions, RemedyOptions } from './account/approve.ts'
export * from './account/books.ts'
export type { AccountReads, OpenOrderFilter, Page, PageOptions, PositionFilter } from './account/createAccount.ts'
export { FULL_SCOPE, verifyDelegation } from './agents/createAgents.ts'
export type { Agents, AuthorizeOptions, DelegateOptions, Delegation } from './agents/createAgents.ts'
export * from './createBezelClient.ts'
export * from './errors/bezelError.ts'
export * from './errors/broadcastError.ts'
export * from './errors/orderErrors.ts'
export * from './errors/positionErrors.ts'
export * from './errors/serviceErrors.ts'
export * from './errors/transactionErrors.ts'
export { DEFAULT_HEADER_PREFIX } from './http/createHeaders.ts'
export * from './isBezelError.ts'
export type { CandleRange, Markets } from './markets/createMarkets.ts'
export * from './markets/decimal.ts'
export type { Notifications, NotificationStreamOptions } from './notifications/createNotifications.ts'
export {
  BatchInterruptedError,
  BatchNotDoneError,
  type CancelAllOptions,
  type CloseAllOptions,
  type SentBatch,
} from './orders/createBatches.ts'
export type { Orders, VerifiedOrder } from './orders/createOrders.ts'
export type { VerifyOptions } from './orders/executeWrite.ts'
export type { NewMarketOrder, NewOrder, NewOrder as CreateOrderRequest, NewRestingOrder } from './orders/newOrder.ts'
export type { LeftOpen } from './orders/sendPages.ts'
export type { FilledOrder, TrackedOrder, WaitOptions } from './orders/trackOrder.ts'
export type { Positions, SentPositionReclaim, SentPositionUpdate } from './positions/createPositions.ts'
export type { UpdateWaitOptions } from './positions/waitForUpdate.ts'
export type { Preview, PreviewOptions } from './preview/createPreview.ts'
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
export type { LogOptions, ResumeOptions, Stream, StreamSettings, SubscribeOptions } from './stream/createStream.ts'
export type { StreamStatus } from './stream/line.ts'
export type { StreamSubscription } from './stream/reader.ts'
export type { WebSocketClass, WebSocketLike } from './stream/socket.ts'
export type * from './stream/streamEvents.ts'
export type { DecodedCall, DecodedField } from './verify/decodedCalls.ts'
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
  Agent,
  AgentAnswer,
  AgentMode,
  AgentScope,
  AgentStatus,
  ApiKey,
  AuditKind,
  AuditLogEntry,
  Balance,
  Candle,
  CandleInterval,
  ChainInfo,
  ChainSlug,
  ClosePositionRequest,
  ErrorCode,
  ErrorDetails,
  EventPage,
  Fill,
  FillAction,
  FillHistoryEntry,
  FlattenRequest,
  Funding,
  IssuedApiKey,
  LeftOut,
  LogChannel,
  MarketCollateral,
  MarketFunding,
  MarketRecord,
  Missing,
  MissingAllowance,
  MissingBalance,
  MissingDelegation,
  MissingKind,
  MissingScope,
  Notification,
  NotificationSeverity,
  NotificationType,
  OpenOrderStatus,
  Order,
  OrderBook,
  OrderPreview,
  OrderReason,
  OrderStatus,
  OrderType,
  PendingUpdate,
  Position,
  PositionPreview,
  PreparedBatch,
  PreparedOrder,
  PreparedPosition,
  PreparedTransaction,
  PreviewLeg,
  MarketPrice as Price,
  RecentTrade,
  RevokedAgent,
  Side,
  SigningDomain,
  Simulation,
  Spend,
  TransactionRequest,
  UpdateOrderRequest,
  UpdatePositionRequest,
  Warning,
} from '@bezel/protocol/wire'
