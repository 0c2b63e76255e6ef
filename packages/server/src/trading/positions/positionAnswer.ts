import { CollateralAmount, min, PercentP, Price, type Position } from '@bezel/protocol'
import { leverageDecimal, sizeDecimal } from '../market/amounts.ts'
import { bookOf, type ChainMarkets, type ListedPair } from '../market/chainMarkets.ts'
import { ORDINARY_TERMS, type Market, type ValuedPosition, type VolumeState } from '../valuation/chainState.ts'
import { tokensOfTrade } from '../valuation/collateralAmounts.ts'
import { pendingBorrowingP } from '../valuation/holdingFees.ts'
import { valuePosition, type FeedPrices } from '../valuation/positionValue.ts'
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

/**
 * Returns the time at which positions are valued: that of the last followed block or of the last read of the markets,
 * whichever is later. The two are read independently, so either can be ahead. A pair's accumulators include what was
 * charged up to their own time, and an earlier time must not take a fee back.
 */
export function valuationTimeS(
  { moment }: ChainMarkets,
  followed: { readonly timestampMs: number } | undefined,
): number {
  return Math.max(Math.floor((followed?.timestampMs ?? 0) / 1_000), moment.timestampS)
}

/**
 * Returns a position as the interface shows it, valued with the Diamond's own formulas; `undefined` when the chain's
 * markets, as last read, do not include its pair or its collateral yet.
 */
export function positionAnswer(
  live: LivePosition,
  chain: ChainMarkets,
  prices: FeedPrices,
  timestampS: number,
): Position | undefined {
  const { id, trader } = live.record
  const { trade, info, openedAtBlock } = live.state
  const { pairIndex, collateralIndex } = trade
  const pair = pairOf(live, chain)
  const book = bookOf(chain, collateralIndex, pairIndex)
  const token = chain.collaterals.find(({ index }) => index === collateralIndex)
  if (pair === undefined || book === undefined || token === undefined) return undefined

  const market: Market = { listing: pair.listing, ...book, volume: NO_VOLUME, terms: ORDINARY_TERMS }
  const value = valuePosition(valued(live, chain, market, prices.mark, timestampS), prices, market, timestampS)
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
  }
}

/**
 * Returns the input of a valuation. A position that changed after its pair was read starts from an accumulator that is
 * newer than the pair's. The borrowing accumulator only grows, so the start is lowered to the pending value, and the
 * fee is never below zero.
 */
function valued(
  { state }: LivePosition,
  { moment }: ChainMarkets,
  { pair }: Market,
  mark: Price,
  timestampS: number,
): ValuedPosition {
  const { trade, info, liquidationParams, feesData, updatedAtMs } = state
  // First-generation borrowing is zero on every chain on which all positions were opened by the present contracts.
  const position = { trade, info, liquidationParams, feesData, oldBorrowingFeeCollateral: CollateralAmount.zero }
  if (updatedAtMs < moment.timestampS * 1_000) return position
  const startedAt = min(feesData.initialAccBorrowingFeeP, pendingBorrowingP(pair, mark, timestampS))
  return { ...position, feesData: { ...feesData, initialAccBorrowingFeeP: startedAt } }
}
