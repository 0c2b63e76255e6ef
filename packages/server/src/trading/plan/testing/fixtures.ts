import type { LivePosition } from '../../positions/positionModel.ts'
import assert from 'node:assert/strict'
import {
  ApiError,
  diamondAbi,
  parseAddress,
  parseDecimal,
  Usd,
  type CollateralAmount,
  type CreateOrderRequest,
  type Decimal,
  type ErrorCode,
  type Hex,
  type OrderId,
} from '@bezel/protocol'
import { decodeFunctionData } from 'viem'
import type { ListedMarket } from '../../market/chainMarkets.ts'
import { BTC, chainMarkets, usd } from '../../../market/testing/fixtures.ts'
import type { OrderRequest, OrderState } from '../../orders/orderModel.ts'
import { ORDINARY_TERMS, type Trade } from '../../valuation/chainState.ts'
import { POSITION, TRADE, usdc } from '../../valuation/testing/fixtures.ts'
import type { TradingContext } from '../plan.ts'
import type { RestingOrder } from '../planUpdateOrder.ts'

// BTC/USD at 60000 with 2 decimals of price and 5 of size, 1.1x to 200x, and a position of 100 USDC long at 10x. Tests
// change the fields that they are about.

export const TRADER = parseAddress(`0x${'aa'.repeat(20)}`)!

export const AGENT = parseAddress(`0x${'bb'.repeat(20)}`)!

export const ATTEMPT = '0x0123456789abcdef' as Hex

export const MARK = usd(60_000)

export const decimal = (text: string): Decimal => parseDecimal(text)!

export function contextOf(changes: Partial<TradingContext> = {}): TradingContext {
  const markOf = changes.markOf ?? (() => MARK)
  return {
    chain: chainMarkets(),
    markOf,
    lastMarkOf: (market) => ({ price: markOf(market), atMs: 1_000, ageMs: 0 }),
    isOpen: () => true,
    opensAt: () => null,
    moment: { timestampS: 1_000, blockNumber: 100 },
    termsOf: () => ORDINARY_TERMS,
    ...changes,
  }
}

/** Returns a context with a changed BTC/USD market. */
export function withMarket(changes: Partial<ListedMarket>, of: TradingContext = contextOf()): TradingContext {
  const market = { ...BTC, ...changes }
  const markets = new Map(of.chain.markets).set(BTC.symbol, market)
  return { ...of, chain: { ...of.chain, markets, pairs: new Map(of.chain.pairs).set(0, market) } }
}

export const BODY: CreateOrderRequest = {
  market: 'BTC/USD',
  side: 'long',
  type: 'market',
  size: '0.01',
  leverage: '10',
}

/** Builds a position of 0.016663333999866693 BTC. */
export function positionOf(trade: Partial<Trade> = {}, id = '7'): LivePosition {
  const { info, liquidationParams, feesData } = POSITION
  return {
    record: { id: id as OrderId, chain: 'arbitrum-sepolia', trader: TRADER, originOrderId: '1' as OrderId },
    state: {
      isOpen: true,
      trade: { ...TRADE, user: TRADER, index: 4, ...trade },
      info,
      liquidationParams,
      feesData,
      maxClosingSlippageP: 0,
      pendingUpdate: null,
      oldBorrowing: null,
      updateRefusal: null,
      openedAtBlock: 90,
      openedAtMs: 1_000,
      updatedAtMs: 1_000,
    },
  }
}

/** Returns the position with this closing slippage set, 1e3 per percent. */
export function slipping(position: LivePosition, maxClosingSlippageP: number): LivePosition {
  return { ...position, state: { ...position.state, maxClosingSlippageP } }
}

export const RESTING: OrderRequest = {
  kind: 'open',
  market: BTC.symbol,
  pairIndex: 0,
  side: 'long',
  type: 'limit',
  size: decimal('0.01'),
  price: decimal('50000'),
  leverage: decimal('10'),
  collateral: 'USDC',
  collateralIndex: 3,
  sl: null,
  tp: decimal('70000'),
  reduceOnly: false,
  slippage: decimal('1'),
  clientId: null,
  legs: [],
}

/** Builds a resting limit order at index 5: 0.01 BTC at 50000, with the 50.01 USDC that it costs. */
export function orderOf(
  state: Partial<OrderState> = {},
  request: Partial<OrderRequest> = {},
  held: CollateralAmount | undefined = usdc(50.01),
): RestingOrder {
  const asked = { ...RESTING, ...request }
  const { size, price, sl, tp, slippage } = asked
  return {
    record: {
      id: '9' as OrderId,
      chain: 'arbitrum-sepolia',
      trader: TRADER,
      agent: AGENT,
      request: asked,
      createdAtMs: 1_000,
      originKey: null,
      spendUsd: Usd.of(500n * 10n ** 18n),
    },
    state: {
      status: 'open',
      size,
      price,
      sl,
      tp,
      slippage,
      txHash: '0x01' as Hex,
      expiresAtMs: null,
      fill: null,
      reason: null,
      updatedAtMs: 1_000,
      tradeIndex: 5,
      unanswered: [],
      dueAtMs: null,
      dueBlock: null,
      countedSinceMs: 1_000,
      ...state,
    },
    held,
  }
}

/** Decodes a call into a name and arguments that a test can compare. */
export function decoded(call: `0x${string}`): { readonly name: string; readonly args: readonly unknown[] } {
  const { functionName, args } = decodeFunctionData({ abi: diamondAbi, data: call })
  return { name: functionName, args: args ?? [] }
}

/** Returns the details of the refusal that `action` throws. */
export function refusalOf(action: () => unknown, code: ErrorCode): Readonly<Record<string, unknown>> {
  try {
    action()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    assert.equal(error.code, code, error.message)
    return error.details ?? {}
  }
  return assert.fail(`nothing was refused with ${code}`)
}

/** Returns the paths of the issues for which `action` is refused. */
export function issuePaths(action: () => unknown): readonly string[] {
  const { issues } = refusalOf(action, 'VALIDATION_ERROR') as { issues: { path: string; message: string }[] }
  for (const { message } of issues) assert.ok(message.length > 0)
  return issues.map(({ path }) => path)
}
