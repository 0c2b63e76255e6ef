import { createCallRound, type CallRound, type Later } from '../../chain/callRound.ts'
import type { CollateralState, Moment, PairOi, PairState, VolumeState } from '../../trading/valuation/chainState.ts'
import { windowIdAt } from '../../trading/valuation/volumeWindows.ts'
import type { ListedPair, PairStates } from '../../trading/market/chainMarkets.ts'
import type { PairTerms } from './readPairTerms.ts'
import type { ChainListing, DiamondAt } from './readListing.ts'

/** The part of a chain's markets that every trade changes. */
export interface TradedState {
  /** 1e8, by place in the listing's collaterals. */
  readonly collaterals: readonly CollateralState[]
  readonly states: ReadonlyMap<number, PairStates>
  readonly volumes: ReadonlyMap<number, VolumeState>
  readonly tradingActivated: number
}

/** One round of calls. */
export async function readState(
  { client, diamond, block }: DiamondAt,
  listing: ChainListing,
  moment: Moment,
): Promise<TradedState> {
  const round = createCallRound(client, diamond, block)
  const { collaterals } = listing
  const prices = collaterals.map(({ index }) => round.view('getCollateralPriceUsd', [index]))
  const states = collaterals.map(({ index }) => readPairStates(round, index, listing.terms.get(index) ?? new Map()))
  const volumes = readVolumes(round, listing, moment.timestampS)
  const tradingActivated = round.view('getTradingActivated', [])
  await round.run()
  return {
    collaterals: collaterals.map(({ precision, precisionDelta }, at) => ({
      precision,
      precisionDelta,
      priceUsd: prices[at]!(),
    })),
    states: new Map(collaterals.map(({ index }, at) => [index, states[at]!()])),
    volumes: volumes(),
    tradingActivated: tradingActivated(),
  }
}

function readPairStates(
  round: CallRound,
  collateralIndex: number,
  terms: ReadonlyMap<number, PairTerms>,
): Later<PairStates> {
  const pairIndices = [...terms.keys()]
  const collateralIndices = pairIndices.map(() => collateralIndex)
  const tokens = round.view('getPairOisAfterV10Token', [collateralIndices, pairIndices])
  const fundingData = round.view('getPairFundingFeeData', [collateralIndices, pairIndices])
  const borrowingData = round.view('getPairBorrowingFeeData', [collateralIndices, pairIndices])
  return () =>
    new Map(
      pairIndices.map((pairIndex, at): [number, PairState] => [
        pairIndex,
        {
          ...terms.get(pairIndex)!,
          oiLongToken: tokens()[at]!.oiLongToken,
          oiShortToken: tokens()[at]!.oiShortToken,
          fundingData: fundingData()[at]!,
          borrowingData: borrowingData()[at]!,
        },
      ]),
    )
}

function readVolumes(
  round: CallRound,
  { pairs, windows: settings }: ChainListing,
  timestampS: number,
): Later<ReadonlyMap<number, VolumeState>> {
  const ids = activeWindowIds(settings, timestampS)
  const found = pairs.filter(hasDepth).map(({ pairIndex }) => ({
    pairIndex,
    windows: round.view('getOiWindows', [settings.windowsDuration, BigInt(pairIndex), ids.map(BigInt)]),
  }))
  return () =>
    new Map(
      found.map(({ pairIndex, windows }) => {
        const byId = new Map(windows().map((window, at): [number, PairOi] => [ids[at]!, window]))
        return [pairIndex, { settings, windows: byId }]
      }),
    )
}

/** Without depth volume moves no price, so nobody asks for it. */
function hasDepth({ listing }: ListedPair): boolean {
  return listing.depthAbove.totalDepthUsd > 0n || listing.depthBelow.totalDepthUsd > 0n
}

/** The windows that count now, oldest first. */
function activeWindowIds(settings: ChainListing['windows'], timestampS: number): readonly number[] {
  if (settings.windowsDuration === 0) return []
  const current = windowIdAt(settings, timestampS)
  const first = Math.max(0, current - settings.windowsCount + 1)
  return Array.from({ length: Math.max(0, current - first + 1) }, (_, at) => first + at)
}
