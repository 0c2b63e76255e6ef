import assert from 'node:assert/strict'
import { sizeOf } from '../formulas.ts'
import { sideKey, type Ledger } from '../ledger.ts'
import type { Snapshot } from '../snapshot.ts'

/**
 * Checks that open interest, in collateral and in tokens, is the sum of the open positions of each side. A leverage
 * update leaves it as it is, so what rounding took from the size then stays in it.
 */
export function checkOpenInterest(snapshot: Snapshot, ledger: Ledger): void {
  for (const { collateralIndex, pairIndex, oiCollateral, oiToken } of snapshot.books) {
    const leftBehind = (long: boolean) => ledger.sizeLeftBehind.get(sideKey({ collateralIndex, pairIndex, long })) ?? 0n
    const sums = { long: { size: leftBehind(true), tokens: 0n }, short: { size: leftBehind(false), tokens: 0n } }
    for (const trade of snapshot.trades) {
      if (trade.tradeType !== 0 || trade.collateralIndex !== collateralIndex || trade.pairIndex !== pairIndex) continue
      const side = trade.long ? sums.long : sums.short
      side.size += sizeOf(trade)
      side.tokens += trade.positionSizeToken
    }
    const found = {
      long: { size: oiCollateral.oiLongCollateral, tokens: oiToken.oiLongToken },
      short: { size: oiCollateral.oiShortCollateral, tokens: oiToken.oiShortToken },
    }
    assert.deepEqual(found, sums, `open interest of pair ${pairIndex} in collateral ${collateralIndex}`)
  }
}
