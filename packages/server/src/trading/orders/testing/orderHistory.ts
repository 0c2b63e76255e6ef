import {
  CollateralAmount,
  Price,
  Usd,
  type Address,
  type ChainSlug,
  type Decimal,
  type Fill,
  type Hex,
  type MarketSymbol,
  type OrderId,
  type OrderReason,
} from '@bezel/protocol'
import type {
  Attempt,
  AttemptId,
  ChainPlace,
  FoldClock,
  OrderEvent,
  OrderRecord,
  OrderRequest,
  RestingTerms,
} from '../orderModel.ts'

// Builders of records, attempts and events. Tests pass only the fields that they are about.

export const T0 = 1_700_000_000_000
/** Validity of a market order's transaction. */
export const VALID_MS = 60_000
export const TIMEOUT_BLOCKS = 200
export const START_BLOCK = 1_000

const TRADER = '0x1111111111111111111111111111111111111111' as Address
const AGENT = '0x2222222222222222222222222222222222222222' as Address

export const decimal = (text: string): Decimal => text as Decimal
export const hash = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}` as Hex
export const attemptId = (n: number): AttemptId => `0x${n.toString(16).padStart(16, '0')}` as AttemptId

const REQUEST: OrderRequest = {
  kind: 'open',
  market: 'BTC/USD' as MarketSymbol,
  pairIndex: 0,
  side: 'long',
  type: 'market',
  size: decimal('0.1'),
  price: null,
  leverage: decimal('10'),
  collateral: 'USDC',
  collateralIndex: 3,
  sl: null,
  tp: null,
  reduceOnly: false,
  slippage: decimal('1'),
  clientId: null,
  legs: [],
}

export function anOrder(request: Partial<OrderRequest> = {}, fields: Partial<OrderRecord> = {}): OrderRecord {
  return {
    id: '7' as OrderId,
    chain: 'arbitrum-sepolia' as ChainSlug,
    trader: TRADER,
    agent: AGENT,
    request: { ...REQUEST, ...request },
    createdAtMs: T0,
    originKey: null,
    spendUsd: Usd.of(10n ** 18n),
    ...fields,
  }
}

export const MARKET_ORDER = anOrder()
export const LIMIT_ORDER = anOrder({
  type: 'limit',
  price: decimal('60000'),
  sl: decimal('55000'),
  tp: null,
})
/** An order that was found on the chain; nothing was prepared for it. */
export const FOREIGN_ORDER = anOrder({}, { agent: null, originKey: `tx:${hash(9)}:0`, spendUsd: Usd.zero })

/** Builds the n-th attempt; its id and the hash of its transaction derive from `n`. */
export function anAttempt(n: number, fields: Partial<Attempt> = {}): Attempt {
  const createdAtMs = fields.createdAtMs ?? T0
  return {
    id: attemptId(n),
    kind: 'open',
    sender: AGENT,
    calldata: '0x' as Hex,
    gas: null,
    createdAtMs,
    expiresAtMs: createdAtMs + VALID_MS,
    size: null,
    submittedHash: null,
    submittedAtMs: null,
    trustedUntilMs: null,
    isMismatch: false,
    withdrawnAtMs: null,
    ...fields,
  }
}

/** Returns the time of a block: one block per second, the first one at the time of the first order. */
export const timeOfBlock = (blockNumber: number): number => T0 + (blockNumber - START_BLOCK) * 1_000

type Kind<Name extends OrderEvent['kind']> = Extract<OrderEvent, { kind: Name }>
/** The common fields of all events. `n` is the attempt whose transaction it is in, `null` for a foreign one. */
type Place = Partial<ChainPlace> & { readonly block: number; readonly log?: number; readonly n?: number | null }

function at({ block, log = 0, n = null, ...fields }: Place) {
  return {
    blockNumber: block,
    blockHash: hash(block),
    logIndex: log,
    txHash: n === null ? hash(1_000_000 + block) : hash(n),
    timestampMs: timeOfBlock(block),
    attemptId: n === null ? null : attemptId(n),
    ...fields,
  }
}

export const requested = (place: Place, pendingIndex = 5): Kind<'requested'> => ({
  ...at(place),
  kind: 'requested',
  pendingIndex,
  tradeIndex: 0,
})

export const TERMS: RestingTerms = {
  price: Price.of(600_000_000_000_000n),
  sl: Price.of(550_000_000_000_000n),
  tp: Price.zero,
  slippageP: 1_000,
}

export const placed = (place: Place, terms: Partial<RestingTerms> = {}, tradeIndex = 3): Kind<'placed'> => ({
  ...at(place),
  kind: 'placed',
  tradeIndex,
  ...TERMS,
  ...terms,
})

export const updated = (place: Place, terms: Partial<RestingTerms>): Kind<'updated'> => ({
  ...at(place),
  kind: 'updated',
  ...TERMS,
  ...terms,
})

/** A resting order that was found on the chain. */
export const foundResting = (place: Place, terms: Partial<RestingTerms> = {}, tradeIndex = 3): Kind<'adopted'> => ({
  ...at({ txHash: null, ...place }),
  kind: 'adopted',
  found: 'resting',
  tradeIndex,
  collateralAmount: CollateralAmount.of(600_000_000n),
  ...TERMS,
  ...terms,
})

/** A request that was found waiting on the chain; `createdBlock` is the block in which it was made. */
export const foundRequest = (place: Place, createdBlock: number, pendingIndex = 5): Kind<'adopted'> => ({
  ...at({ txHash: null, ...place }),
  kind: 'adopted',
  found: 'request',
  pendingIndex,
  tradeIndex: 0,
  createdBlock,
})

export const canceled = (place: Place): Kind<'canceled'> => ({ ...at(place), kind: 'canceled' })

export const executed = (place: Place, pendingIndex: number | null = 5, fill: Partial<Fill> = {}): Kind<'executed'> => {
  const where = at(place)
  return {
    ...where,
    kind: 'executed',
    pendingIndex,
    fill: aFill({ txHash: where.txHash ?? hash(77), timestamp: where.timestampMs, ...fill }),
  }
}

export const refused = (place: Place, reason: OrderReason, pendingIndex: number | null = 5): Kind<'refused'> => ({
  ...at(place),
  kind: 'refused',
  pendingIndex,
  reason,
})

export const reclaimed = (place: Place, pendingIndex = 5): Kind<'reclaimed'> => ({
  ...at(place),
  kind: 'reclaimed',
  pendingIndex,
})

export const reverted = (place: Place): Kind<'reverted'> => ({ ...at({ log: -1, ...place }), kind: 'reverted' })

export function aFill(fields: Partial<Fill> = {}): Fill {
  return {
    price: '65000',
    size: '0.1',
    collateral: '650',
    feeCollateral: '3.9',
    txHash: hash(77),
    timestamp: T0,
    positionId: '8',
    ...fields,
  }
}

/** Builds a clock; by default just after the order was made. */
export function clockAt(fields: Partial<FoldClock> = {}): FoldClock {
  return { nowMs: T0 + 1, headBlock: START_BLOCK, headMs: T0, timeoutBlocks: TIMEOUT_BLOCKS, ...fields }
}
