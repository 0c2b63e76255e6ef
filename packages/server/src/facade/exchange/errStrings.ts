import {
  ApiError,
  CONTRACT_ERRORS,
  type Address,
  type ContractErrorName,
  type ErrorCode,
  type OrderReason,
  type TransactionRequest,
} from '@bezel/protocol'
import { RelayRefusedError } from '../relayer/gasBudget.ts'

/**
 * A refusal that is answered with status 200 as `{"status": "err", "response": message}`. Clients match the start of
 * some messages.
 */
export class ExchangeErr extends Error {
  override readonly name = 'ExchangeErr'
}

/** The texts that clients match, mostly by their beginning. More text may follow them. */
export const ERR = {
  tick: 'Price must be divisible by tick size.',
  invalidPrice: 'Order has invalid price.',
  invalidSize: 'Order has invalid size',
  zeroSize: 'Order has zero size.',
  // The $10 is another exchange's minimum, but clients match it as part of the text; the minimum of this market follows
  // it.
  minimum: 'Order must have minimum value of $10',
  margin: 'Insufficient margin to place order.',
  reduceOnly: 'Reduce only order would increase position.',
  postOnly: 'Post only order would have immediately matched,',
  noMatch: 'Order could not immediately match against any resting orders.',
  trigger: 'Invalid TP/SL price.',
  noLiquidity: 'No liquidity available for market order.',
  farPrice: 'Order price cannot be more than 80% away from the reference price',
  dead: 'Order was never placed, already canceled, or filled.',
  executing: 'Order is being executed and cannot be canceled.',
  changing: 'Order changed a moment ago: look at it again.',
  failed: 'The transaction failed on chain and changed nothing: look at the order again.',
  wallet: 'User or API Wallet',
  requests: 'Too many cumulative requests sent',
  openInterest: 'Order would increase open interest while open interest is capped',
  marginTier: 'Order would cause position to exceed margin tier limit at current leverage',
  cloid: 'Duplicate cloid: it stands for another order of this user.',
  late: 'Order was not mined in time and is over. Nothing was traded; use a new cloid.',
  partialTrigger: 'TP/SL orders are for the whole position here: use its full size.',
  partialResting:
    'A resting order that reduces is for the whole position here, as its take profit: use its full size, or an Ioc order.',
  flip: 'Order would flip the position, which is not supported: close it first, then open the other side.',
} as const

/** The agent that a refusal concerns. */
export interface Concerned {
  readonly agent: Address
}

type Text = (error: ApiError, of: Concerned) => string

const asItIs: Text = ({ message }) => message

const walletIs =
  (what: string): Text =>
  (_error, { agent }) =>
    `${ERR.wallet} ${agent.toLowerCase()} ${what}`

/**
 * The text for each refusal of the native interface. Errors of status 500 and above are told only when another part of
 * the request was done.
 */
const BY_CODE: Readonly<Record<ErrorCode, Text>> = {
  VALIDATION_ERROR: invalidTerm,
  PRECISION_ERROR: tooPrecise,
  SIZE_BELOW_MINIMUM: tooSmall,
  MARKET_CLOSED: ({ message }) => `${ERR.noLiquidity} ${message}`,
  POSITION_NOT_FOUND: () => ERR.reduceOnly,
  ORDER_NOT_FOUND: () => ERR.dead,
  ORDER_NOT_MODIFIABLE: notModifiable,
  SIMULATION_REVERTED: reverted,
  UNSUPPORTED: neverHonoured,
  IDEMPOTENCY_CONFLICT: () => ERR.cloid,
  RATE_LIMITED: ({ message }) => `${ERR.requests}. ${message}`,

  AGENT_UNKNOWN: walletIs('does not exist.'),
  AGENT_REVOKED: walletIs('does not exist any more: it was revoked.'),
  AGENT_EXPIRED: walletIs('does not exist any more: its time is over.'),
  AGENT_NOT_DELEGATED: (_error, { agent }) =>
    `L1 error: API Wallet ${agent.toLowerCase()} is not yet the on-chain delegate of its user. The user sends delegationTx from the master wallet once: it makes the relayer of this service the one delegate, in place of any other.`,

  LEVERAGE_OUT_OF_RANGE: asItIs,
  MARKET_NOT_FOUND: asItIs,
  COLLATERAL_NOT_SUPPORTED: asItIs,
  SCOPE_READ_ONLY: asItIs,
  SCOPE_MARKET_NOT_ALLOWED: asItIs,
  SCOPE_LEVERAGE_EXCEEDED: asItIs,
  SCOPE_SPEND_CAP_EXCEEDED: asItIs,
  TOO_MANY_PREPARED_ORDERS: asItIs,
  TRADER_MISMATCH: asItIs,
  NONCE_REUSED: asItIs,

  UNAUTHENTICATED: asItIs,
  INVALID_SIGNATURE: asItIs,
  TIMESTAMP_OUT_OF_WINDOW: asItIs,
  API_KEY_UNKNOWN: asItIs,
  CHAIN_NOT_FOUND: asItIs,
  AGENT_NOT_FOUND: asItIs,
  NOT_FOUND: asItIs,
  SUBMISSION_MISMATCH: asItIs,
  INTERNAL: asItIs,
  UPSTREAM_UNAVAILABLE: asItIs,
  NOT_READY: asItIs,
  CHAIN_READ_ONLY: asItIs,
}

/** The text for each reason for which the chain took an order and then refused to execute it. */
const BY_REASON: Readonly<Record<OrderReason, string>> = {
  SLIPPAGE: ERR.noMatch,
  NOT_HIT: ERR.noMatch,
  TP_REACHED: ERR.trigger,
  SL_REACHED: ERR.trigger,
  MARKET_CLOSED: ERR.noLiquidity,
  PAUSED: ERR.noLiquidity,
  PRICE_IMPACT: ERR.noLiquidity,
  EXPOSURE_LIMITS: ERR.openInterest,
  MAX_LEVERAGE: ERR.marginTier,
  LIQ_REACHED: `${ERR.margin} It would be liquidated at once.`,
  NO_TRADE: ERR.reduceOnly,
  WRONG_TRADE: ERR.reduceOnly,
  NONE: 'Order was rejected by the contracts.',
  OTHER: 'Order was rejected by the contracts.',
}

/**
 * The texts before the words of those contract errors that clients know an equal of. The words themselves are those of
 * the one table, in the message of the refusal.
 */
const BY_REVERT: Readonly<Partial<Record<ContractErrorName, string>>> = {
  TradeTpInvalid: ERR.trigger,
  TradeSlInvalid: ERR.trigger,
  WrongTp: ERR.trigger,
  WrongSl: ERR.trigger,
  PriceImpactTooHigh: ERR.noLiquidity,
  Paused: ERR.noLiquidity,
  WrongLeverage: ERR.marginTier,
  InsufficientCollateral: ERR.minimum,
  InsufficientBalance: ERR.margin,
  ERC20InsufficientBalance: ERR.margin,
  ERC20InsufficientAllowance: ERR.margin,
  SafeERC20FailedOperation: ERR.margin,
  ConflictingPendingOrder: ERR.executing,
  AlreadyBeingMarketClosed: ERR.executing,
  PendingTrigger: ERR.executing,
  DoesntExist: ERR.dead,
  NoTrade: ERR.dead,
  NoOrder: ERR.dead,
}

/** Returns the text for a take profit or stop loss of a new order that the contracts would refuse. */
export function wrongSideText(kind: 'tp' | 'sl'): string {
  const name = kind === 'tp' ? 'TradeTpInvalid' : 'TradeSlInvalid'
  const { words, cause, remedy } = CONTRACT_ERRORS[name]
  return `${ERR.trigger} ${words} ${cause} ${remedy}`
}

export function reasonText(reason: OrderReason | null): string {
  return BY_REASON[reason ?? 'OTHER']
}

/** Returns the text of a refusal; `undefined` for an error of the service itself. */
export function refusalText(error: unknown, of: Concerned): string | undefined {
  if (error instanceof ExchangeErr || error instanceof RelayRefusedError) return error.message
  if (error instanceof ApiError && error.status < 500) return BY_CODE[error.code](error, of)
  return undefined
}

/** Returns a text for any error, for requests of which other parts were done, so that something must be answered. */
export function anyText(error: unknown, of: Concerned): string {
  if (error instanceof ApiError) return BY_CODE[error.code](error, of)
  return refusalText(error, of) ?? 'The service could not take this now. Retry.'
}

function detail({ details }: ApiError, name: string): string | undefined {
  const value = (details as Readonly<Record<string, unknown>> | undefined)?.[name]
  return typeof value === 'string' ? value : undefined
}

function tooPrecise(error: ApiError): string {
  const field = detail(error, 'field')
  if (field === 'size') return `${ERR.invalidSize}: ${error.message}`
  return field === 'price' || field === 'sl' || field === 'tp' ? `${ERR.tick} ${error.message}` : error.message
}

function invalidTerm(error: ApiError): string {
  if (error.message.startsWith('body.size')) return `${ERR.invalidSize}: ${error.message}`
  return /^body\.(?:price|sl|tp)/.test(error.message) ? `${ERR.invalidPrice} ${error.message}` : error.message
}

function tooSmall(error: ApiError): string {
  const [value, margin] = [detail(error, 'minPositionUsd'), detail(error, 'minCollateralUsd')]
  return `${ERR.minimum}: here it is ${value} USD, and ${margin} USD of margin at the leverage of the order.`
}

function notModifiable(error: ApiError): string {
  const status = detail(error, 'status')
  if (status === 'open') return ERR.changing
  return status === 'pending' || status === 'prepared' ? ERR.executing : ERR.dead
}

/** Returns the text of a refusal; one of a stop that would never be honoured names the price it is measured by. */
function neverHonoured(error: ApiError): string {
  return detail(error, 'reference') === undefined ? error.message : `${ERR.trigger} ${error.message}`
}

/**
 * Returns the text of a refused simulation: the beginning that clients match, then the words of the contract error. A
 * missing allowance comes with the transaction that grants it, which has no other place in the answer to one order.
 */
function reverted(error: ApiError): string {
  const { approvalTx } = (error.details ?? {}) as { readonly approvalTx?: TransactionRequest }
  const approval = approvalTx === undefined ? '' : ` approvalTx: to ${approvalTx.to} data ${approvalTx.data}`
  if (detail(error, 'needed') !== undefined) return `${ERR.margin} ${error.message}${approval}`
  const errorName = detail(error, 'errorName') ?? ''
  const known = Object.hasOwn(BY_REVERT, errorName) ? BY_REVERT[errorName as ContractErrorName] : undefined
  return known === undefined ? error.message : `${known} ${error.message}`
}
