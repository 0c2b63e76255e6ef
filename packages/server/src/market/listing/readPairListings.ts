import type { CallRound, Later } from '../../chain/callRound.ts'
import type { PairListing } from '../../trading/valuation/chainState.ts'
import { decodeDepthBook, type BandWords } from '../../trading/valuation/depthBands.ts'
import type { ListedPair } from '../../trading/market/chainMarkets.ts'
import type { NamedPair } from './namedPair.ts'

/** What holds for each pair in every collateral. */
export function readPairListings(
  round: CallRound,
  pairs: readonly NamedPair[],
  offsets: BandWords,
): Later<readonly ListedPair[]> {
  const wide = pairs.map(({ pairIndex }) => BigInt(pairIndex))
  const multipliers = round.view('getPairCounterTradeFeeRateMultipliers', [pairs.map(({ pairIndex }) => pairIndex)])
  const bands = round.view('getPairDepthBandsArray', [wide])
  const factors = round.view('getPairFactors', [wide])
  const liquidationParams = wide.map((index) => round.view('getPairLiquidationParams', [index]))
  return () =>
    pairs.map(({ spreadP, fee, ...pair }, at) => {
      const { aboveSlot1, aboveSlot2, belowSlot1, belowSlot2 } = bands()[at]!
      const listing: PairListing = {
        spreadP,
        feeP: BigInt(fee.totalPositionSizeFeeP),
        liqFeeP: BigInt(fee.totalLiqCollateralFeeP),
        minPositionSizeUsd: BigInt(fee.minPositionSizeUsd) * E3_TO_E18,
        counterTradeFeeRateMultiplier: multipliers()[at]!,
        liquidationParams: liquidationParams[at]!(),
        depthAbove: decodeDepthBook({ slot1: aboveSlot1, slot2: aboveSlot2 }, offsets),
        depthBelow: decodeDepthBook({ slot1: belowSlot1, slot2: belowSlot2 }, offsets),
        factors: factors()[at]!,
      }
      return { ...pair, listing }
    })
}

/** A fee group's floor is in thousandths of a USD. */
const E3_TO_E18 = 10n ** 15n
