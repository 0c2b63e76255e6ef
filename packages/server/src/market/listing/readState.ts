import { CollateralPrice, TokenSize, withScales } from '@bezel/protocol'
import { createCallRound, type CallRound, type Later } from '../../chain/diamondCalls.ts'
import type {
  BorrowingData,
  CollateralState,
  Moment,
  OldBorrowing,
  OpenInterest,
  PairFundingFeeData,
  PairOi,
  PairState,
  VolumeState,
} from '../../trading/valuation/chainState.ts'
import { activeWindowIds } from '../../trading/valuation/priceImpact.ts'
import type { ListedPair, PairStates } from '../../trading/market/chainMarkets.ts'
import type { PairTerms, ChainListing, DiamondAt } from './readListing.ts'
import { NodeUnavailableError } from '../../ground/unavailable.ts'
import type { RpcClient } from '../../chain/rpcClient.ts'

/** The part of a chain's markets that every trade changes. */
export interface TradedState {
  /** States in the order of the listing's collaterals. */
  readonly collaterals: readonly CollateralState[]
  readonly states: ReadonlyMap<number, PairStates>
  readonly volumes: ReadonlyMap<number, VolumeState>
  readonly tradingActivated: number
}

/** Reads the state in one round of calls. */
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
      priceUsd: CollateralPrice.of(prices[at]!()),
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
  const oldBorrowing = readOldBorrowing(round, collateralIndex, terms)
  return () =>
    new Map(
      pairIndices.map((pairIndex, at): [number, PairState] => [
        pairIndex,
        {
          ...terms.get(pairIndex)!,
          oiLongToken: TokenSize.of(tokens()[at]!.oiLongToken),
          oiShortToken: TokenSize.of(tokens()[at]!.oiShortToken),
          fundingData: withScales<PairFundingFeeData>(fundingData()[at]!),
          borrowingData: borrowingData()[at]!,
          oldBorrowing: oldBorrowing(pairIndex),
        },
      ]),
    )
}

/**
 * Reads first-generation borrowing where it is switched on: of each pair with a fee, and of the groups of pairs. That
 * of all other pairs stands still.
 */
function readOldBorrowing(
  round: CallRound,
  collateralIndex: number,
  terms: ReadonlyMap<number, PairTerms>,
): (pairIndex: number) => OldBorrowing {
  const data = new Map<number, Later<BorrowingData>>()
  const groupIndices = new Set<number>()
  for (const [pairIndex, { oldBorrowing }] of terms) {
    if (oldBorrowing.data.feePerBlock > 0)
      data.set(pairIndex, round.view('getBorrowingPair', [collateralIndex, pairIndex]))
    const groupIndex = oldBorrowing.pairGroups.at(-1)?.groupIndex
    if (groupIndex !== undefined) groupIndices.add(groupIndex)
  }
  const indices = [...groupIndices]
  const groups = indices.length === 0 ? undefined : round.view('getBorrowingGroups', [collateralIndex, indices])
  return (pairIndex) => {
    const known = terms.get(pairIndex)!.oldBorrowing
    const groupIndex = known.pairGroups.at(-1)?.groupIndex
    const [groupData, groupOis] = groups?.() ?? [[], []]
    const at = groupIndex === undefined ? -1 : indices.indexOf(groupIndex)
    return {
      ...known,
      data: data.get(pairIndex)?.() ?? known.data,
      group: at < 0 ? undefined : { data: groupData[at]!, oi: withScales<OpenInterest>(groupOis[at]!) },
    }
  }
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
        const byId = new Map(windows().map((window, at): [number, PairOi] => [ids[at]!, withScales<PairOi>(window)]))
        return [pairIndex, { settings, windows: byId }]
      }),
    )
}

/** Returns true when volume moves the pair's price. Without depth it does not, so the volume is not read. */
function hasDepth({ listing }: ListedPair): boolean {
  return listing.depthAbove.totalDepthUsd > 0n || listing.depthBelow.totalDepthUsd > 0n
}

/** Reads the number and time of the node's newest block. */
export async function readMoment(client: RpcClient): Promise<Moment> {
  const [outcome] = await client.batch([{ method: 'eth_getBlockByNumber', params: ['latest', false] }])
  const block = outcome?.ok ? (outcome.result as { number?: unknown; timestamp?: unknown } | null) : undefined
  const blockNumber = quantity(block?.number)
  const timestampS = quantity(block?.timestamp)
  if (blockNumber === undefined || timestampS === undefined) {
    throw new NodeUnavailableError('the node gave no newest block')
  }
  return { blockNumber, timestampS }
}

function quantity(value: unknown): number | undefined {
  return typeof value === 'string' && /^0x[0-9a-f]{1,13}$/i.test(value) ? Number(value) : undefined
}
