import type { ErrorCode } from '@bezel/protocol'
import { AFTER, COUNT, CURSOR, FROM, INTERVAL, LEVELS, TO, type QueryParameter } from './parameters.ts'

/**
 * Who may ask: anybody, an agent by its signature, also a read-only key (of the chain in the path, or of any), or the master wallet by a signature
 * inside the body.
 */
export type OperationAccess = 'public' | 'signature' | 'signatureOrKey' | 'signatureOrKeyOfAnyChain' | 'masterWallet'

/** What the reference says of an operation beyond the schemas of its route. */
export interface OperationEntry {
  readonly tag:
    'System' | 'Markets' | 'Account' | 'Orders' | 'Positions' | 'Agents' | 'Notifications' | 'Hyperliquid compatibility'
  readonly access: OperationAccess
  readonly summary: string
  /** Beyond those that its access and its path bring. */
  readonly errors: readonly ErrorCode[]
  /** Of a body whose fields are all optional: it may be left out. */
  readonly isBodyOptional?: boolean
  /** As a caller writes them: the routes see the query as text. */
  readonly query?: Readonly<Record<string, QueryParameter>>
}

/** What any request may meet. */
const ALWAYS: readonly ErrorCode[] = ['RATE_LIMITED', 'INTERNAL']

const SIGNATURE: readonly ErrorCode[] = [
  'UNAUTHENTICATED',
  'INVALID_SIGNATURE',
  'TIMESTAMP_OUT_OF_WINDOW',
  'NONCE_REUSED',
  'AGENT_UNKNOWN',
  'AGENT_NOT_DELEGATED',
  'AGENT_EXPIRED',
  'AGENT_REVOKED',
  // The delegate is asked of the chain, and the nonce is kept in the store.
  'UPSTREAM_UNAVAILABLE',
  'NOT_READY',
]

const BY_ACCESS: Readonly<Record<OperationAccess, readonly ErrorCode[]>> = {
  public: [],
  signature: [...SIGNATURE, 'SCOPE_READ_ONLY', 'UNSUPPORTED'],
  signatureOrKey: [...SIGNATURE, 'API_KEY_UNKNOWN'],
  // The route says itself what it answers.
  signatureOrKeyOfAnyChain: [],
  // A wallet that is a contract is asked on the chain.
  masterWallet: ['INVALID_SIGNATURE', 'TIMESTAMP_OUT_OF_WINDOW', 'NONCE_REUSED', 'UPSTREAM_UNAVAILABLE', 'NOT_READY'],
}

/** Of whatever prepares a transaction. */
const PREPARE: readonly ErrorCode[] = ['SCOPE_MARKET_NOT_ALLOWED', 'SIMULATION_REVERTED']

/** Of what trades on a position that is there. */
const CHANGE: readonly ErrorCode[] = [
  ...PREPARE,
  'MARKET_NOT_FOUND',
  'MARKET_CLOSED',
  'COLLATERAL_NOT_SUPPORTED',
  'PRECISION_ERROR',
]

/** Of what opens, or may open more. */
const OPEN: readonly ErrorCode[] = [
  ...CHANGE,
  'SCOPE_LEVERAGE_EXCEEDED',
  'SCOPE_SPEND_CAP_EXCEEDED',
  'LEVERAGE_OUT_OF_RANGE',
  'SIZE_BELOW_MINIMUM',
]

const PAGE = { cursor: CURSOR, limit: COUNT(50) }

/** Every operation of the native interface, by its operation id. */
export const OPERATIONS = {
  health: { tag: 'System', access: 'public', summary: 'The process is alive, and this is what it serves', errors: [] },
  ready: { tag: 'System', access: 'public', summary: 'Whether every chain can be used now', errors: [] },
  getChainInfo: { tag: 'System', access: 'public', summary: 'What a client must know to sign', errors: [] },

  listMarkets: { tag: 'Markets', access: 'public', summary: 'Every market that can be traded', errors: ['NOT_READY'] },
  getMarket: {
    tag: 'Markets',
    access: 'public',
    summary: 'One market',
    errors: ['MARKET_NOT_FOUND', 'NOT_READY'],
  },
  getOrderBook: {
    tag: 'Markets',
    access: 'public',
    summary: 'Depth around the mark, from the bands of the contracts: nobody rests there',
    errors: ['MARKET_NOT_FOUND', 'NOT_READY'],
    query: { levels: LEVELS },
  },
  getRecentTrades: {
    tag: 'Markets',
    access: 'public',
    summary: 'Executed trades, newest first',
    errors: ['MARKET_NOT_FOUND', 'NOT_READY'],
    query: { limit: COUNT(100) },
  },
  getCandles: {
    tag: 'Markets',
    access: 'public',
    summary: 'Mark prices over time, oldest first',
    errors: ['MARKET_NOT_FOUND', 'UPSTREAM_UNAVAILABLE', 'NOT_READY'],
    query: { interval: INTERVAL, from: FROM, to: TO },
  },
  getFunding: {
    tag: 'Markets',
    access: 'public',
    summary: 'Funding and borrowing rates, and open interest, of a market',
    errors: ['MARKET_NOT_FOUND', 'NOT_READY'],
  },
  getPrices: { tag: 'Markets', access: 'public', summary: 'Mark and index of every market', errors: ['NOT_READY'] },

  getAccount: {
    tag: 'Account',
    access: 'signatureOrKey',
    summary: 'Balances, allowances and agents',
    errors: ['TRADER_MISMATCH'],
  },
  listPositions: {
    tag: 'Account',
    access: 'signatureOrKey',
    summary: 'Open positions, with profit and liquidation price as of now',
    errors: ['TRADER_MISMATCH'],
  },
  listOpenOrders: {
    tag: 'Account',
    access: 'signatureOrKey',
    summary: 'Orders that are pending, open, or prepared and not expired',
    errors: ['TRADER_MISMATCH'],
  },
  listOrderHistory: {
    tag: 'Account',
    access: 'signatureOrKey',
    summary: 'All orders, newest first',
    errors: ['TRADER_MISMATCH'],
    query: PAGE,
  },
  listFills: {
    tag: 'Account',
    access: 'signatureOrKey',
    summary: 'Executions, newest first',
    errors: ['TRADER_MISMATCH'],
    query: PAGE,
  },
  listEvents: {
    tag: 'Account',
    access: 'signatureOrKey',
    summary: 'What happened to the account, oldest first: the log behind the private channels of the WebSocket',
    errors: ['TRADER_MISMATCH'],
    query: { after: AFTER, limit: COUNT(100) },
  },

  getOrder: { tag: 'Orders', access: 'signatureOrKey', summary: 'One order', errors: ['ORDER_NOT_FOUND'] },
  createOrder: {
    tag: 'Orders',
    access: 'signature',
    summary: 'Prepare an order; 200 instead of 201 when its clientId was used for the same order before',
    errors: [...OPEN, 'POSITION_NOT_FOUND', 'IDEMPOTENCY_CONFLICT', 'TOO_MANY_PREPARED_ORDERS'],
  },
  updateOrder: {
    tag: 'Orders',
    access: 'signature',
    summary: 'Prepare a change of a resting limit or stop order',
    errors: [...OPEN, 'ORDER_NOT_FOUND', 'ORDER_NOT_MODIFIABLE'],
  },
  cancelOrder: {
    tag: 'Orders',
    access: 'signature',
    summary: 'Prepare the cancellation of a resting order or the reclaim of a timed-out one; withdraw a prepared one',
    errors: [...PREPARE, 'ORDER_NOT_FOUND', 'ORDER_NOT_MODIFIABLE'],
  },
  submitOrder: {
    tag: 'Orders',
    access: 'signature',
    summary: 'Report the hash of the transaction that was sent for an order',
    errors: ['ORDER_NOT_FOUND', 'SUBMISSION_MISMATCH'],
  },

  closePosition: {
    tag: 'Positions',
    access: 'signature',
    summary: 'Prepare the closing of a position at market, wholly or in part',
    isBodyOptional: true,
    errors: [...CHANGE, 'POSITION_NOT_FOUND', 'TOO_MANY_PREPARED_ORDERS'],
  },
  updatePosition: {
    tag: 'Positions',
    access: 'signature',
    summary: 'Prepare a change of stop loss, take profit, leverage or collateral',
    errors: [...CHANGE, 'SCOPE_LEVERAGE_EXCEEDED', 'LEVERAGE_OUT_OF_RANGE', 'POSITION_NOT_FOUND'],
  },

  createAgent: {
    tag: 'Agents',
    access: 'masterWallet',
    summary: 'Authorise an agent, or give it another name or scope',
    errors: ['TRADER_MISMATCH', 'UNSUPPORTED'],
  },
  getAgent: { tag: 'Agents', access: 'public', summary: 'An agent and its status', errors: ['AGENT_NOT_FOUND'] },
  revokeAgent: { tag: 'Agents', access: 'masterWallet', summary: 'Disable an agent', errors: ['AGENT_NOT_FOUND'] },
  issueApiKey: {
    tag: 'Agents',
    access: 'masterWallet',
    summary: 'Issue a read-only key, shown once; the same label replaces the key before',
    errors: [],
  },

  listNotifications: {
    tag: 'Notifications',
    access: 'public',
    summary: 'What a wallet has to know now, of all chains, newest first',
    errors: [],
  },
  dismissNotification: {
    tag: 'Notifications',
    access: 'signatureOrKeyOfAnyChain',
    summary: 'Do not show a notification again; signed for any chain on which the agent is registered for this wallet',
    errors: [],
  },

  hlInfo: {
    tag: 'Hyperliquid compatibility',
    access: 'public',
    summary: 'Every read of the exchange-shaped facade, by the `type` in its body',
    errors: ['UPSTREAM_UNAVAILABLE', 'NOT_READY'],
  },
  hlExchange: {
    tag: 'Hyperliquid compatibility',
    access: 'public',
    summary: 'Every action of the exchange-shaped facade, in an envelope signed as there',
    errors: ['CHAIN_READ_ONLY', 'UPSTREAM_UNAVAILABLE', 'NOT_READY'],
  },
} as const satisfies Readonly<Record<string, OperationEntry>>

/** `undefined` for an operation the table does not know. */
export function operationEntry(operationId: string): OperationEntry | undefined {
  return Object.hasOwn(OPERATIONS, operationId) ? OPERATIONS[operationId as keyof typeof OPERATIONS] : undefined
}

/** Every code an operation may answer with. */
export function errorCodesOf({ access, errors }: OperationEntry, path: string): readonly ErrorCode[] {
  const isOfChain = path.startsWith('/v1/') || path.startsWith('/hl/')
  const ofPath: readonly ErrorCode[] = isOfChain ? ['VALIDATION_ERROR', 'CHAIN_NOT_FOUND'] : []
  return [...new Set([...ofPath, ...BY_ACCESS[access], ...errors, ...ALWAYS])]
}
