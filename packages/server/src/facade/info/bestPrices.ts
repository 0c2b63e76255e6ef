import type { ListedPair } from '../../trading/market/chainMarkets.ts'
import { ORDINARY_TERMS } from '../../trading/valuation/chainState.ts'
import { larger } from '../../trading/valuation/scales.ts'
import { shiftPrice } from '../../trading/valuation/skewImpact.ts'
import { halfSpreadP } from '../../trading/valuation/spread.ts'

/** What a small order would be executed at, 1e10: the mark with the pair's spread on each side. */
export function bestPrices({ listing }: Pick<ListedPair, 'listing'>, mark: bigint): { bid: bigint; ask: bigint } {
  const at = (isBuy: boolean): bigint => larger(shiftPrice(mark, halfSpreadP(isBuy, listing, ORDINARY_TERMS)), 1n)
  return { bid: at(false), ask: at(true) }
}
