import {
  parseAddress,
  PendingOrderType,
  Usd,
  type Address,
  type ChainSlug,
  type Decimal,
  type Hex,
  type OrderId,
} from '@bezel/protocol'
import { symbol } from '../../market/testing/fixtures.ts'
import type { Attempt, AttemptId, OrderRecord } from '../../trading/orders/orderModel.ts'
import type { EventOf } from '../../chain/events.ts'

// Events as the Diamond emits them, and orders as the service prepares them, for one trade: 100 USDC at 10x on BTC/USD
// at 60,000.

export const CHAIN: ChainSlug = 'arbitrum-sepolia'
export const DIAMOND = address('d1')
export const ALICE = address('a1')
export const BOB = address('b0')
export const AGENT = address('a9')
export const ORACLE = address('0c')

export function address(byte: string): Address {
  return parseAddress(`0x${byte.repeat(20)}`)!
}

export function txHash(byte: string): Hex {
  return `0x${byte.repeat(32)}` as Hex
}

const P10 = 10n ** 10n
type ChainTrade = EventOf<'TradeStored'>['args']['trade']

export function chainTrade(changes: Partial<ChainTrade> = {}): ChainTrade {
  return {
    user: ALICE,
    index: 0,
    pairIndex: 0,
    leverage: 10_000,
    long: true,
    isOpen: true,
    collateralIndex: 3,
    tradeType: 0,
    collateralAmount: 100_000_000n,
    openPrice: 60_000n * P10,
    tp: 0n,
    sl: 0n,
    isCounterTrade: false,
    positionSizeToken: 0n,
    __placeholder: 0,
    ...changes,
  }
}

export function requested(
  of: { index?: number; orderType?: number; maxSlippageP?: number; trade?: Partial<ChainTrade> } = {},
): EventOf<'PendingOrderStored'> {
  const trade = chainTrade(of.trade)
  const { index = 0, orderType = 0, maxSlippageP = 1_000 } = of
  const pendingOrder = { trade, user: trade.user, index, isOpen: true, orderType, createdBlock: 1, maxSlippageP }
  return { name: 'PendingOrderStored', args: { pendingOrder } }
}

export function stored(trade: Partial<ChainTrade> = {}, maxSlippageP = 0): EventOf<'TradeStored'> {
  const full = chainTrade({ positionSizeToken: 16_000_000_000_000_000n, ...trade })
  return {
    name: 'TradeStored',
    args: {
      user: full.user,
      index: full.index,
      trade: full,
      tradeInfo: {
        createdBlock: 1,
        tpLastUpdatedBlock: 1,
        slLastUpdatedBlock: 1,
        maxSlippageP,
        lastOiUpdateTs: 1,
        collateralPriceUsd: 100_000_000,
        contractsVersion: 2,
        lastPosIncreaseBlock: 1,
        __placeholder: 0,
      },
      liquidationParams: {
        maxLiqSpreadP: 1,
        startLiqThresholdP: 2,
        endLiqThresholdP: 3,
        startLeverage: 4,
        endLeverage: 5,
      },
    },
  }
}

const NO_IMPACT = {
  positionSizeToken: 0n,
  fixedSpreadP: 0n,
  cumulVolPriceImpactP: 0n,
  skewPriceImpactP: 0n,
  totalPriceImpactP: 0n,
  priceAfterImpact: 60_000n * P10,
}

export function executed(
  of: { pendingIndex?: number; open?: boolean; trade?: Partial<ChainTrade>; percentProfit?: bigint } = {},
): EventOf<'MarketExecuted'> {
  const t = chainTrade({ positionSizeToken: 16_000_000_000_000_000n, ...of.trade })
  return {
    name: 'MarketExecuted',
    args: {
      orderId: { user: t.user, index: of.pendingIndex ?? 0 },
      user: t.user,
      index: t.index,
      t,
      open: of.open ?? true,
      oraclePrice: 60_000n * P10,
      marketPrice: 60_012n * P10,
      liqPrice: 55_000n * P10,
      priceImpact: NO_IMPACT,
      percentProfit: of.percentProfit ?? 0n,
      amountSentToTrader: 0n,
      collateralPriceUsd: 100_000_000n,
    },
  }
}

export function feesProcessed(orderType = 0, totalFeesCollateral = 750_000n): EventOf<'FeesProcessed'> {
  return {
    name: 'FeesProcessed',
    args: { collateralIndex: 3, trader: ALICE, positionSizeCollateral: 10n ** 9n, orderType, totalFeesCollateral },
  }
}

/** Returns the charge of a trading fee. `fees` and `pnl` are the position's record afterwards. */
export function feesRealized(fee = 750_000n, fees = fee, pnl = 0n): EventOf<'TradingFeesRealized'> {
  return {
    name: 'TradingFeesRealized',
    args: {
      collateralIndex: 3,
      trader: ALICE,
      index: 0,
      tradingFeesCollateral: fee,
      finalTradingFeesCollateral: fee,
      newRealizedFeesCollateral: fees,
      newRealizedPnlCollateral: pnl,
      amountSentFromVaultCollateral: 0n,
    },
  }
}

type Resized = EventOf<'TradePositionUpdated'>

/** Returns the change of a position's size; by default half of it is closed. */
export function resized(changes: Partial<Resized['args']> = {}): Resized {
  return {
    name: 'TradePositionUpdated',
    args: {
      user: ALICE,
      index: 0,
      collateralAmount: 50_000_000n,
      leverage: 10_000,
      openPrice: 60_000n * P10,
      newSl: 0n,
      newPositionSizeToken: 8_000_000_000_000_000n,
      pendingOrderType: PendingOrderType.MARKET_PARTIAL_CLOSE,
      isPnlPositive: false,
      ...changes,
    },
  }
}

type Downscaled = EventOf<'TradeFeesDataDownscaled'>

/** Returns the downscale of the fee record of a position of which half was closed. */
export function downscaled(record: Partial<Downscaled['args']['newTradeFeesData']>): Downscaled {
  return {
    name: 'TradeFeesDataDownscaled',
    args: {
      trader: ALICE,
      index: 0,
      positionSizeCollateralDelta: 500_000_000n,
      existingPositionSizeCollateral: 1_000_000_000n,
      newCollateralAmount: 50_000_000n,
      newTradeFeesData: {
        realizedTradingFeesCollateral: 0n,
        realizedPnlCollateral: 0n,
        manuallyRealizedNegativePnlCollateral: 0n,
        alreadyTransferredNegativePnlCollateral: 0n,
        virtualAvailableCollateralInDiamond: 0n,
        __placeholder: 0n,
        initialAccFundingFeeP: 0n,
        initialAccBorrowingFeeP: 0n,
        ...record,
      },
    },
  }
}

export function tradeClosed(index = 0): EventOf<'TradeClosed'> {
  return { name: 'TradeClosed', args: { user: ALICE, index, isPnlPositive: false } }
}

/** Returns an order of Alice that the service prepared. */
export function orderRecord(id: number, changes: Partial<OrderRecord['request']> = {}): OrderRecord {
  return {
    id: String(id) as OrderId,
    chain: CHAIN,
    trader: ALICE,
    agent: AGENT,
    createdAtMs: 1_800_000_000_000,
    originKey: null,
    spendUsd: Usd.zero,
    request: {
      kind: 'open',
      market: symbol('BTC/USD'),
      pairIndex: 0,
      side: 'long',
      type: 'market',
      size: '0.0166' as Decimal,
      price: null,
      leverage: '10' as Decimal,
      collateral: 'USDC',
      collateralIndex: 3,
      sl: null,
      tp: null,
      reduceOnly: false,
      slippage: '1' as Decimal,
      clientId: null,
      legs: [],
      ...changes,
    },
  }
}

/** Returns the calldata of a call with the attempt id appended. */
export function calldataOf(call: string, id: AttemptId): Hex {
  return `0x${call}${id.slice(2)}` as Hex
}

export function attemptId(byte: string): AttemptId {
  return `0x${byte.repeat(8)}` as AttemptId
}

export function attempt(id: AttemptId, changes: Partial<Attempt> = {}): Attempt {
  return {
    id,
    kind: 'open',
    sender: AGENT,
    calldata: calldataOf('5bfcc4f8', id),
    gas: null,
    createdAtMs: 1_800_000_000_000,
    expiresAtMs: 1_900_000_000_000,
    size: null,
    submittedHash: null,
    submittedAtMs: null,
    trustedUntilMs: null,
    isMismatch: false,
    withdrawnAtMs: null,
    ...changes,
  }
}
