import { CollateralPrice, TokenSize, withScales } from '@bezel/protocol'
import { createCallRound, type CallRound, type Later } from '../../chain/diamondCalls.ts'
import { parseBlock, resultOf } from '../../chain/blocks.ts'
import type {
  BorrowingData,
  Moment,
  OpenInterest,
  PairFundingFeeData,
  PairOi,
} from '../../trading/valuation/chainState.ts'
import { activeWindowIds } from '../../trading/valuation/priceImpact.ts'
import type { ListedPair } from '../../trading/market/chainMarkets.ts'
import type { FollowedBlock } from '../../store/blockStore.ts'
import { cellKey, fromWhole, type GroupValues, type PairValues, type TradedState, type Windows } from './foldTraded.ts'
import type { ChainListing, DiamondAt } from './readListing.ts'
import { NodeUnavailableError } from '../../ground/unavailable.ts'
import type { RpcClient } from '../../chain/rpcClient.ts'

/** The part of a chain's markets that no setting decides. */
export interface MarketState {
  /**
   * USD prices of the collaterals, in the order of the listing. They come from price feeds beside the Diamond, which
   * emits no event when one moves.
   */
  readonly prices: readonly CollateralPrice[]
  /** The values that trades change and events tell. */
  readonly traded: TradedState
}

/** Reads the state in one round of calls: that of all listed pairs, or of a few of them with their groups. */
export async function readState(
  { client, diamond, block }: DiamondAt,
  listing: ChainListing,
  moment: Moment,
  few?: readonly number[],
): Promise<MarketState> {
  const round = createCallRound(client, diamond, block)
  const { collaterals } = listing
  const prices = collaterals.map(({ index }) => round.view('getCollateralPriceUsd', [index]))
  const pairs = collaterals.map((collateral) => readPairs(round, listing, collateral, few))
  const groups = collaterals.map(({ index }) => readGroups(round, listing, index, few))
  const windows = readWindows(round, listing, moment.timestampS, few)
  await round.run()
  return {
    prices: prices.map((price) => CollateralPrice.of(price())),
    traded: {
      pairs: new Map(pairs.flatMap((read) => read())),
      groups: new Map(groups.flatMap((read) => read())),
      windows: new Map(windows()),
    },
  }
}

/** Returns the pairs to read in one collateral. */
function pairsOf({ terms }: ChainListing, collateralIndex: number, few: readonly number[] | undefined): number[] {
  const listed = [...(terms.get(collateralIndex)?.keys() ?? [])]
  return few === undefined ? listed : listed.filter((pairIndex) => few.includes(pairIndex))
}

function readPairs(
  round: CallRound,
  listing: ChainListing,
  { index, precision }: ChainListing['collaterals'][number],
  few: readonly number[] | undefined,
): Later<[string, PairValues][]> {
  const pairIndices = pairsOf(listing, index, few)
  if (pairIndices.length === 0) return () => []
  const collateralIndices = pairIndices.map(() => index)
  const tokens = round.view('getPairOisAfterV10Token', [collateralIndices, pairIndices])
  const fundingData = round.view('getPairFundingFeeData', [collateralIndices, pairIndices])
  const borrowingData = round.view('getPairBorrowingFeeData', [collateralIndices, pairIndices])
  const old = readOldBorrowing(round, index, few === undefined ? undefined : pairIndices)
  return () =>
    pairIndices.map((pairIndex, at) => {
      const { data, oi } = old(pairIndex)
      const pair: PairValues = {
        oiLongToken: TokenSize.of(tokens()[at]!.oiLongToken),
        oiShortToken: TokenSize.of(tokens()[at]!.oiShortToken),
        oiLongBeforeV10Collateral: fromWhole(oi.long, precision),
        oiShortBeforeV10Collateral: fromWhole(oi.short, precision),
        fundingData: withScales<PairFundingFeeData>(fundingData()[at]!),
        borrowingData: borrowingData()[at]!,
        oldBorrowing: data,
      }
      return [cellKey(index, pairIndex), pair]
    })
}

interface OldBorrowingOfPair {
  readonly data: BorrowingData
  readonly oi: { readonly long: bigint; readonly short: bigint }
}

/** Reads first-generation borrowing: one large view has all pairs, and a few of them have views of their own. */
function readOldBorrowing(
  round: CallRound,
  collateralIndex: number,
  few: readonly number[] | undefined,
): (pairIndex: number) => OldBorrowingOfPair {
  if (few === undefined) {
    const all = round.view('getAllBorrowingPairs', [collateralIndex])
    return (pairIndex) => {
      const [data, ois] = all()
      return { data: data[pairIndex]!, oi: ois[pairIndex]! }
    }
  }
  const reads = new Map(
    few.map((pairIndex) => {
      const data = round.view('getBorrowingPair', [collateralIndex, pairIndex])
      const oi = round.view('getBorrowingPairOiBeforeV10', [collateralIndex, pairIndex])
      return [pairIndex, () => ({ data: data(), oi: oi() })]
    }),
  )
  return (pairIndex) => reads.get(pairIndex)!()
}

function readGroups(
  round: CallRound,
  listing: ChainListing,
  collateralIndex: number,
  few: readonly number[] | undefined,
): Later<[string, GroupValues][]> {
  const terms = listing.terms.get(collateralIndex)
  const found = pairsOf(listing, collateralIndex, few).map((pairIndex) => groupIndexOf(terms?.get(pairIndex)))
  const indices = [...new Set(found.filter((index) => index !== undefined))]
  if (indices.length === 0) return () => []
  const groups = round.view('getBorrowingGroups', [collateralIndex, indices])
  return () => {
    const [data, ois] = groups()
    return indices.map((groupIndex, at) => {
      const group = { data: data[at]!, oi: withScales<OpenInterest>(ois[at]!) }
      return [cellKey(collateralIndex, groupIndex), group]
    })
  }
}

/** Returns the group that a pair is in; `undefined` when it never was in one. */
export function groupIndexOf(
  terms: { readonly oldBorrowing: { readonly pairGroups: readonly { readonly groupIndex: number }[] } } | undefined,
): number | undefined {
  return terms?.oldBorrowing.pairGroups.at(-1)?.groupIndex
}

function readWindows(
  round: CallRound,
  { pairs, windows: settings }: ChainListing,
  timestampS: number,
  few: readonly number[] | undefined,
): Later<[number, Windows][]> {
  const ids = activeWindowIds(settings, timestampS)
  const read = pairs.filter((pair) => hasDepth(pair) && (few?.includes(pair.pairIndex) ?? true))
  const found = read.map(({ pairIndex }) => ({
    pairIndex,
    windows: round.view('getOiWindows', [settings.windowsDuration, BigInt(pairIndex), ids.map(BigInt)]),
  }))
  return () =>
    found.map(({ pairIndex, windows }) => [
      pairIndex,
      new Map(windows().map((window, at): [number, PairOi] => [ids[at]!, withScales<PairOi>(window)])),
    ])
}

/** Returns true when volume moves the pair's price. Without depth it does not, so the volume is not read. */
function hasDepth({ listing }: ListedPair): boolean {
  return listing.depthAbove.totalDepthUsd > 0n || listing.depthBelow.totalDepthUsd > 0n
}

/** Reads the node's newest block. */
export async function readNewestBlock(client: RpcClient): Promise<FollowedBlock> {
  const [outcome] = await client.batch([{ method: 'eth_getBlockByNumber', params: ['latest', false] }])
  const read = parseBlock(resultOf(outcome))
  if (read === undefined) throw new NodeUnavailableError('the node gave no newest block')
  return read.block
}

/** Returns the moment of a block. */
export function momentOf({ number, timestampMs }: Pick<FollowedBlock, 'number' | 'timestampMs'>): Moment {
  return { blockNumber: number, timestampS: timestampMs / 1_000 }
}

/** Reads the moment of the node's newest block. */
export async function readMoment(client: RpcClient): Promise<Moment> {
  return momentOf(await readNewestBlock(client))
}
