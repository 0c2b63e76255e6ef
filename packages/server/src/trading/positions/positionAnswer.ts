import { CollateralAmount, min, PercentP, Price, type Position } from '@bezel/protocol'
import { leverageDecimal, sizeDecimal } from '../market/amounts.ts'
import { bookOf, type ChainMarkets, type ListedPair, type PairQuote } from '../market/chainMarkets.ts'
import {
  ORDINARY_TERMS,
  type Market,
  type Moment,
  type ValuedPosition,
  type VolumeState,
} from '../valuation/chainState.ts'
import { tokensOfTrade } from '../valuation/collateralAmounts.ts'
import { pendingBorrowingP } from '../valuation/holdingFees.ts'
import { valuePosition, type FeedPrices } from '../valuation/positionValue.ts'
import { realizedCollateral } from '../valuation/profit.ts'
import { pendingUpdateAnswer } from './pendingUpdate.ts'
import type { LivePosition } from './positionModel.ts'

/** An empty volume: the valuation of a position does not use recent volume. */
const NO_VOLUME: VolumeState = {
  settings: { startTs: 0, windowsDuration: 0, windowsCount: 0 },
  windows: new Map(),
}

/** Returns a position's pair, also one that is closed to new trades; `undefined` until its listing is read. */
export function pairOf({ state }: LivePosition, chain: ChainMarkets): ListedPair | undefined {
  return chain.pairs.get(state.trade.pairIndex)
}

/** The prices that a position is valued at, and the time at which they were received; 0 when they never were. */
export type PositionPrices = FeedPrices & Pick<PairQuote, 'updatedAtMs'>

/** Returns the last prices of a position's pair, or its own entry price while there are none. */
export function lastPrices({ state }: LivePosition, quote: PairQuote | undefined): PositionPrices {
  const { openPrice } = state.trade
  return quote ?? { mark: openPrice, index: openPrice, updatedAtMs: 0 }
}

/** The block that was followed last. */
export type FollowedHead = { readonly number: number; readonly timestampMs: number } | undefined

/**
 * Returns the block at which positions are valued: the last followed one or that of the last read of the markets,
 * whichever is later. The two are read independently, so either can be ahead. A pair's accumulators include what was
 * charged up to their own block, and an earlier one must not take a fee back.
 */
export function valuationMoment({ moment }: ChainMarkets, followed: FollowedHead): Moment {
  return {
    timestampS: Math.max(Math.floor((followed?.timestampMs ?? 0) / 1_000), moment.timestampS),
    blockNumber: Math.max(followed?.number ?? 0, moment.blockNumber),
  }
}

/**
 * Returns a position as the interface shows it, valued with the Diamond's own formulas; `undefined` when the chain's
 * markets, as last read, do not include its pair or its collateral yet.
 */
export function positionAnswer(
  live: LivePosition,
  chain: ChainMarkets,
  prices: PositionPrices,
  at: Moment,
): Position | undefined {
  const { id, trader } = live.record
  const { trade, info, feesData, openedAtBlock, pendingUpdate } = live.state
  const { pairIndex, collateralIndex } = trade
  const pair = pairOf(live, chain)
  const book = bookOf(chain, collateralIndex, pairIndex)
  const token = chain.collaterals.find(({ index }) => index === collateralIndex)
  if (pair === undefined || book === undefined || token === undefined) return undefined

  const { terms = ORDINARY_TERMS } = live
  const market: Market = { listing: pair.listing, ...book, volume: NO_VOLUME, terms }
  const value = valuePosition(valuedPosition(live, chain, market, prices.mark, at), prices, market, at)
  const { decimals } = token
  return {
    id,
    trader,
    market: pair.symbol,
    pairIndex,
    side: trade.long ? 'long' : 'short',
    size: sizeDecimal({ positionSizeToken: tokensOfTrade(trade, book.collateral) }, info),
    collateral: CollateralAmount.format(trade.collateralAmount, decimals),
    collateralSymbol: token.symbol,
    leverage: leverageDecimal(trade),
    entryPrice: Price.format(trade.openPrice),
    markPrice: Price.format(prices.mark),
    liquidationPrice: Price.format(value.liquidationPrice),
    unrealizedPnl: CollateralAmount.format(value.unrealizedPnlCollateral, decimals),
    unrealizedPnlPercent: PercentP.format(value.unrealizedPnlP),
    fundingFee: CollateralAmount.format(value.fundingFeeCollateral, decimals),
    borrowingFee: CollateralAmount.format(value.borrowingFeeCollateral, decimals),
    sl: Price.format(trade.sl),
    tp: Price.format(trade.tp),
    openedAtBlock,
    marginMode: 'isolated',
    priceAt: prices.updatedAtMs,
    pendingUpdate: pendingUpdateAnswer(pendingUpdate, decimals),
    realized: CollateralAmount.format(realizedCollateral(feesData), decimals),
  }
}

/**
 * Returns the input of a valuation. A position that changed after its pair was read starts from an accumulator that is
 * newer than the pair's. The borrowing accumulator only grows, so the start is lowered to the pending value, and the
 * fee is never below zero; that of the first generation never is.
 */
export function valuedPosition(
  { state }: LivePosition,
  { moment }: ChainMarkets,
  { pair }: Market,
  mark: Price,
  { timestampS }: Moment,
): ValuedPosition {
  const { trade, info, liquidationParams, feesData, oldBorrowing, updatedAtMs } = state
  const position = { trade, info, liquidationParams, feesData, oldBorrowing }
  if (updatedAtMs < moment.timestampS * 1_000) return position
  const startedAt = min(feesData.initialAccBorrowingFeeP, pendingBorrowingP(pair, mark, timestampS))
  return { ...position, feesData: { ...feesData, initialAccBorrowingFeeP: startedAt } }
}
