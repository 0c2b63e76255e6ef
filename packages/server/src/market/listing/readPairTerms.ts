import type { CallRound, Later } from '../../chain/callRound.ts'
import type { PairState } from '../../trading/valuation/chainState.ts'
import { P_10 } from '../../trading/valuation/scales.ts'

/** The part of a pair's state that only governance changes, and open interest from before v10, which can only shrink. */
export type PairTerms = Pick<
  PairState,
  | 'fundingParams'
  | 'borrowingParams'
  | 'skewDepth'
  | 'maxOi'
  | 'oiLongBeforeV10Collateral'
  | 'oiShortBeforeV10Collateral'
>

/** By pair index, in one collateral. */
export function readPairTerms(
  round: CallRound,
  collateral: { readonly index: number; readonly precision: bigint },
  pairIndices: readonly number[],
): Later<ReadonlyMap<number, PairTerms>> {
  const collateralIndices = pairIndices.map(() => collateral.index)
  const fundingParams = round.view('getPairFundingFeeParams', [collateralIndices, pairIndices])
  const borrowingParams = round.view('getPairBorrowingFeeParams', [collateralIndices, pairIndices])
  const skewDepths = round.view('getPairSkewDepths', [collateralIndices, pairIndices])
  const oldInterests = pairIndices.map((pair) => round.view('getBorrowingPairOiBeforeV10', [collateral.index, pair]))
  const toCollateral = (scaled: bigint): bigint => (scaled * collateral.precision) / P_10
  return () =>
    new Map(
      pairIndices.map((pairIndex, at) => {
        const { long, short, max } = oldInterests[at]!()
        const terms: PairTerms = {
          fundingParams: fundingParams()[at]!,
          borrowingParams: borrowingParams()[at]!,
          skewDepth: skewDepths()[at]!,
          maxOi: max,
          oiLongBeforeV10Collateral: toCollateral(long),
          oiShortBeforeV10Collateral: toCollateral(short),
        }
        return [pairIndex, terms]
      }),
    )
}
