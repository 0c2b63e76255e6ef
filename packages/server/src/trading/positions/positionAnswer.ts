import type { LivePosition } from './livePosition.ts'
import { formatDecimal, type Position } from '@bezel/protocol'
import { bookOf, type ChainMarkets, type ListedPair } from '../market/chainMarkets.ts'
import {
  ORDINARY_TERMS,
  type Market,
  type Position as ValuedPosition,
  type VolumeState,
} from '../valuation/chainState.ts'
import { baseSizeOfTokens, positionSizeCollateral, tokensOfCollateral } from '../valuation/collateralAmounts.ts'
import { pendingBorrowingP } from '../valuation/pendingBorrowing.ts'
import { valuePosition, type FeedPrices } from '../valuation/positionValue.ts'
import { smaller } from '../valuation/scales.ts'

const PRICE_DECIMALS = 10
const LEVERAGE_DECIMALS = 3
const SIZE_DECIMALS = 18
/** Percent is 1e10. */
const PERCENT_DECIMALS = 10

/** No valuation of a position asks for recent volume. */
const NO_VOLUME: VolumeState = {
  settings: { startTs: 0, windowsDuration: 0, windowsCount: 0 },
  windows: new Map(),
}

/** A position's pair, also one that is closed to new trades. `undefined` while the listing that names it is not read. */
export function pairOf({ state }: LivePosition, chain: ChainMarkets): ListedPair | undefined {
  return chain.pairs.get(state.trade.pairIndex)
}

/**
 * The time positions are valued at: the last followed block's. Markets and blocks are read apart from each other, so either can be ahead,
 * and the later one counts: a pair's accumulators hold what was charged up to their own time, and asking about an earlier one must not
 * take a fee back.
 */
export function valuationTimeS(
  { moment }: ChainMarkets,
  followed: { readonly timestampMs: number } | undefined,
): number {
  return Math.max(Math.floor((followed?.timestampMs ?? 0) / 1_000), moment.timestampS)
}

/**
 * A position as the interface shows it, valued with the Diamond's own formulas. `undefined` when the chain's markets, as last read, do
 * not know its pair or its collateral yet.
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
  // Trades from before v10 have no token size: theirs is what their size was at its price.
  const tokens =
    trade.positionSizeToken > 0n
      ? trade.positionSizeToken
      : tokensOfCollateral(positionSizeCollateral(trade), trade.openPrice, book.collateral)
  const { decimals } = token
  return {
    id,
    trader,
    market: pair.symbol,
    pairIndex,
    side: trade.long ? 'long' : 'short',
    size: formatDecimal(baseSizeOfTokens(tokens, BigInt(info.collateralPriceUsd)), SIZE_DECIMALS),
    collateral: formatDecimal(trade.collateralAmount, decimals),
    collateralSymbol: token.symbol,
    leverage: formatDecimal(BigInt(trade.leverage), LEVERAGE_DECIMALS),
    entryPrice: formatDecimal(trade.openPrice, PRICE_DECIMALS),
    markPrice: formatDecimal(prices.mark, PRICE_DECIMALS),
    liquidationPrice: formatDecimal(value.liquidationPrice, PRICE_DECIMALS),
    unrealizedPnl: formatDecimal(value.unrealizedPnlCollateral, decimals),
    unrealizedPnlPercent: formatDecimal(value.unrealizedPnlP, PERCENT_DECIMALS),
    fundingFee: formatDecimal(value.fundingFeeCollateral, decimals),
    borrowingFee: formatDecimal(value.borrowingFeeCollateral, decimals),
    sl: formatDecimal(trade.sl, PRICE_DECIMALS),
    tp: formatDecimal(trade.tp, PRICE_DECIMALS),
    openedAtBlock,
    marginMode: 'isolated',
  }
}

/**
 * What a valuation takes. A position that changed after its pair was read starts from an accumulator that is newer than the pair's: the
 * borrowing accumulator only grows, so what is pending is at least what the position started from, and its fee is never below zero.
 */
function valued(
  { state }: LivePosition,
  { moment }: ChainMarkets,
  { pair }: Market,
  mark: bigint,
  timestampS: number,
): ValuedPosition {
  const { trade, info, liquidationParams, feesData, updatedAtMs } = state
  // First-generation borrowing is zero on every chain whose positions are all of the present contracts.
  const position = { trade, info, liquidationParams, feesData, oldBorrowingFeeCollateral: 0n }
  if (updatedAtMs < moment.timestampS * 1_000) return position
  const startedAt = smaller(feesData.initialAccBorrowingFeeP, pendingBorrowingP(pair, mark, timestampS))
  return { ...position, feesData: { ...feesData, initialAccBorrowingFeeP: startedAt } }
}
