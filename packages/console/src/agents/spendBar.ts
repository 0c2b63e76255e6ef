import { decimal, roundPrice, roundSize, type NewOrder, type Spend } from '@bezel/sdk'
import type { MarketRecord } from '@bezel/protocol/wire'

/** A day's spend of an agent as a bar shows it. */
export interface SpendBar {
  /** Filled part of the bar, 0 to 1. */
  readonly share: number
  /** Part in whole percent, rounded down, so that 100 means that nothing is left. */
  readonly percent: number
  /** USD that can still be opened today. */
  readonly leftUsd: string
}

/** Returns the bar of a spend; null when the agent has no cap. */
export function spendBarOf({
  spentUsd,
  dailySpendCapUsd,
}: Pick<Spend, 'spentUsd' | 'dailySpendCapUsd'>): SpendBar | null {
  if (dailySpendCapUsd === null) return null
  const isUsedUp = decimal.compare(spentUsd, dailySpendCapUsd) >= 0
  // A number is enough here: it is a length on the screen.
  const share = isUsedUp ? 1 : Number(spentUsd) / Number(dailySpendCapUsd)
  return {
    share,
    percent: Math.floor(share * 100),
    leftUsd: isUsedUp ? '0' : decimal.sub(dailySpendCapUsd, spentUsd),
  }
}

/**
 * Returns a small order whose preview tells the spend of an agent; nothing is ever sent of it. It rests, so that a
 * closed market does not refuse it. `undefined` when the market has no price.
 */
export function probeOrder(
  market: Pick<MarketRecord, 'symbol' | 'minPositionUsd' | 'minLeverage' | 'pricePrecision' | 'sizePrecision'>,
  mark: string,
): NewOrder | undefined {
  if (Number(mark) <= 0) return undefined
  // Twice the smallest position, as a number: what the order would cost is of no interest.
  const size = roundSize(market, (2 * Number(market.minPositionUsd)) / Number(mark) + 10 ** -market.sizePrecision)
  const price = roundPrice(market, decimal.mul(mark, '0.99'))
  return { market: market.symbol, side: 'long', type: 'limit', price, size, leverage: market.minLeverage }
}
