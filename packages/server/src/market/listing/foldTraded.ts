import { CollateralAmount, TokenSize, Usd, WholeCollateral, withScales } from '@bezel/protocol'
import type { MarketEvent } from '../../chain/marketEvents.ts'
import type {
  BorrowingData,
  OiWindowsSettings,
  OpenInterest,
  PairBorrowingFeeData,
  PairFundingFeeData,
  PairOi,
} from '../../trading/valuation/chainState.ts'

// The state of markets that trades change, as a fold over the Diamond's events.

/** The part of a pair's state in one collateral that trades change. */
export interface PairValues {
  readonly oiLongToken: TokenSize
  readonly oiShortToken: TokenSize
  readonly oiLongBeforeV10Collateral: CollateralAmount
  readonly oiShortBeforeV10Collateral: CollateralAmount
  readonly fundingData: PairFundingFeeData
  readonly borrowingData: PairBorrowingFeeData
  /** First-generation borrowing. Its rate and exponent are settings. */
  readonly oldBorrowing: BorrowingData
}

/** A group of pairs in one collateral, for first-generation borrowing. Rate, exponent and maximum are settings. */
export interface GroupValues {
  readonly data: BorrowingData
  readonly oi: OpenInterest
}

/** Volumes of a pair by window id. A window that is missing has none. */
export type Windows = ReadonlyMap<number, PairOi>

/** The values that trades change, keyed as the Diamond's views are. */
export interface TradedState {
  /** By `cellKey` of collateral and pair. */
  readonly pairs: ReadonlyMap<string, PairValues>
  /** By `cellKey` of collateral and group. */
  readonly groups: ReadonlyMap<string, GroupValues>
  /** By pair index; only of pairs whose price moves with volume. */
  readonly windows: ReadonlyMap<number, Windows>
}

/** The settings that the fold needs. */
export interface FoldSettings {
  readonly windows: OiWindowsSettings
  /** 10^decimals of each collateral, by its index. */
  readonly precisions: ReadonlyMap<number, bigint>
}

/** Returns the key of a pair or a group in one collateral. */
export function cellKey(collateralIndex: number, index: number): string {
  return `${collateralIndex}/${index}`
}

/** Returns the values that events change, as they are after the last one. Unknown pairs and groups are left out. */
export function foldTraded(
  before: TradedState,
  events: readonly MarketEvent[],
  settings: FoldSettings,
): TradedState | undefined {
  const draft: Draft = { before, settings, pairs: new Map(), groups: new Map(), windows: new Map() }
  for (const event of events) foldEvent(draft, event)
  const { pairs, groups, windows } = draft
  return pairs.size + groups.size + windows.size === 0 ? undefined : { pairs, groups, windows }
}

/** Returns the state with these values in place of its own. */
export function withValues(state: TradedState, values: TradedState): TradedState {
  return {
    pairs: merged(state.pairs, values.pairs),
    groups: merged(state.groups, values.groups),
    windows: merged(state.windows, values.windows),
  }
}

/** Returns the state's own values under the keys of `others`: what undoes `withValues(state, others)`. */
export function valuesUnder(state: TradedState, others: TradedState): TradedState {
  return {
    pairs: under(state.pairs, others.pairs),
    groups: under(state.groups, others.groups),
    windows: under(state.windows, others.windows),
  }
}

function merged<Key, Value>(values: ReadonlyMap<Key, Value>, others: ReadonlyMap<Key, Value>): ReadonlyMap<Key, Value> {
  return others.size === 0 ? values : new Map([...values, ...others])
}

function under<Key, Value>(values: ReadonlyMap<Key, Value>, others: ReadonlyMap<Key, Value>): Map<Key, Value> {
  const found = new Map<Key, Value>()
  for (const key of others.keys()) {
    const value = values.get(key)
    if (value !== undefined) found.set(key, value)
  }
  return found
}

/** The values changed so far by the events of a block. */
interface Draft {
  readonly before: TradedState
  readonly settings: FoldSettings
  readonly pairs: Map<string, PairValues>
  readonly groups: Map<string, GroupValues>
  readonly windows: Map<number, Windows>
}

type Handlers = {
  readonly [Name in MarketEvent['name']]: (
    draft: Draft,
    args: Extract<MarketEvent, { readonly name: Name }>['args'],
  ) => void
}

const HANDLERS: Handlers = {
  BorrowingGroupAccFeesUpdated(draft, { collateralIndex, groupIndex, currentBlock, accFeeLong, accFeeShort }) {
    changeGroup(draft, collateralIndex, groupIndex, (group) => ({
      ...group,
      data: { ...group.data, accFeeLong, accFeeShort, accLastUpdatedBlock: Number(currentBlock) },
    }))
  },
  BorrowingGroupOiUpdated(draft, { collateralIndex, groupIndex, newOiLong, newOiShort }) {
    changeGroup(draft, collateralIndex, groupIndex, (group) => ({
      ...group,
      oi: { ...group.oi, long: WholeCollateral.of(newOiLong), short: WholeCollateral.of(newOiShort) },
    }))
  },
  BorrowingPairAccFeesUpdated(draft, { collateralIndex, pairIndex, currentBlock, accFeeLong, accFeeShort }) {
    changePair(draft, collateralIndex, pairIndex, (pair) => ({
      ...pair,
      oldBorrowing: { ...pair.oldBorrowing, accFeeLong, accFeeShort, accLastUpdatedBlock: Number(currentBlock) },
    }))
  },
  BorrowingPairOiBeforeV10Updated(draft, { collateralIndex, pairIndex, newOiLong, newOiShort }) {
    const precision = draft.settings.precisions.get(collateralIndex)
    if (precision === undefined) return
    changePair(draft, collateralIndex, pairIndex, (pair) => ({
      ...pair,
      oiLongBeforeV10Collateral: fromWhole(newOiLong, precision),
      oiShortBeforeV10Collateral: fromWhole(newOiShort, precision),
    }))
  },
  PairOiAfterV10Updated(draft, { collateralIndex, pairIndex, newOiToken }) {
    changePair(draft, collateralIndex, pairIndex, (pair) => ({
      ...pair,
      oiLongToken: TokenSize.of(newOiToken.oiLongToken),
      oiShortToken: TokenSize.of(newOiToken.oiShortToken),
    }))
  },
  PendingAccBorrowingFeesStored(draft, { collateralIndex, pairIndex, data }) {
    changePair(draft, collateralIndex, pairIndex, (pair) => ({ ...pair, borrowingData: data }))
  },
  PendingAccFundingFeesStored(draft, { collateralIndex, pairIndex, data }) {
    const fundingData = withScales<PairFundingFeeData>(data)
    changePair(draft, collateralIndex, pairIndex, (pair) => ({ ...pair, fundingData }))
  },
  PriceImpactOpenInterestAdded(draft, { oiWindowUpdate }) {
    const { windowsDuration, pairIndex, windowId, long, openInterestUsd } = oiWindowUpdate
    // After a change of the duration, which is a setting, the windows are read again.
    if (windowsDuration !== draft.settings.windows.windowsDuration) return
    const windows = draft.windows.get(Number(pairIndex)) ?? draft.before.windows.get(Number(pairIndex))
    if (windows === undefined) return
    const added = addVolume(windows.get(Number(windowId)), long, openInterestUsd)
    const oldest = Number(windowId) - draft.settings.windows.windowsCount
    const kept = [...windows].filter(([id]) => id > oldest)
    draft.windows.set(Number(pairIndex), new Map(kept).set(Number(windowId), added))
  },
}

function foldEvent<Event extends MarketEvent>(draft: Draft, { name, args }: Event): void {
  const handle: (draft: Draft, args: never) => void = HANDLERS[name]
  handle(draft, args as never)
}

function addVolume(window: PairOi | undefined, isBuy: boolean, usd: bigint): PairOi {
  const { oiLongUsd, oiShortUsd } = window ?? { oiLongUsd: Usd.zero, oiShortUsd: Usd.zero }
  return isBuy
    ? { oiLongUsd: Usd.of(oiLongUsd + usd), oiShortUsd }
    : { oiLongUsd, oiShortUsd: Usd.of(oiShortUsd + usd) }
}

/** Converts an amount from the scale in which first-generation borrowing counts open interest. */
export function fromWhole(whole: bigint, precision: bigint): CollateralAmount {
  return CollateralAmount.of((whole * precision) / WholeCollateral.one)
}

function changePair(
  { before, pairs }: Draft,
  collateralIndex: number,
  pairIndex: number,
  change: (pair: PairValues) => PairValues,
): void {
  const key = cellKey(collateralIndex, pairIndex)
  const pair = pairs.get(key) ?? before.pairs.get(key)
  if (pair !== undefined) pairs.set(key, change(pair))
}

function changeGroup(
  { before, groups }: Draft,
  collateralIndex: number,
  groupIndex: number,
  change: (group: GroupValues) => GroupValues,
): void {
  const key = cellKey(collateralIndex, groupIndex)
  const group = groups.get(key) ?? before.groups.get(key)
  if (group !== undefined) groups.set(key, change(group))
}
