import { REQUESTS_ON_TRADE, TradeType, withScales, type Address, type diamondAbi } from '@bezel/protocol'
import type { ContractFunctionReturnType } from 'viem'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import type {
  BorrowingInitialAccFees,
  LiquidationParams,
  Trade,
  TradeFeesData,
  TradeInfo,
} from '../trading/valuation/chainState.ts'

// Brings together, by trader, what the Diamond's views say at one block. Nothing here reads from a node.

type ChainTrade = ContractFunctionReturnType<typeof diamondAbi, 'view', 'getAllTradesForTraders'>[number]
type ChainTradeInfo = ContractFunctionReturnType<typeof diamondAbi, 'view', 'getAllTradeInfosForTraders'>[number]
type ChainFeesData = ContractFunctionReturnType<typeof diamondAbi, 'view', 'getTradeFeesDataArray'>[number]
type ChainOldBorrowing = ContractFunctionReturnType<typeof diamondAbi, 'view', 'getBorrowingInitialAccFees'>
type Counter = ContractFunctionReturnType<typeof diamondAbi, 'view', 'getCountersForTraders'>[number]

/** A request to the oracle as the Diamond keeps it. */
export type PendingOrder = ContractFunctionReturnType<
  typeof diamondAbi,
  'view',
  'getAllPendingOrdersForTraders'
>[number]

/** The open trades of some traders: three lists with the same places. */
export interface TradeLists {
  readonly trades: readonly ChainTrade[]
  readonly infos: readonly ChainTradeInfo[]
  readonly liquidationParams: readonly LiquidationParams[]
}

/** A position, or a resting order when its `tradeType` is not TRADE, without its fee record. */
export interface FoundTrade {
  readonly trade: Trade
  readonly info: TradeInfo
  readonly liquidationParams: LiquidationParams
  /** Closing slippage of a position, opening slippage of a resting order, 1e3 per percent. */
  readonly maxSlippageP: number
  /** Block in which it was stored or last resized. */
  readonly createdBlock: number
}

/** A position with everything that the chain keeps of it. */
export interface FoundPosition extends FoundTrade {
  readonly feesData: TradeFeesData
  /** The start of its first-generation borrowing fee; `null` when none was stored. */
  readonly oldBorrowing: BorrowingInitialAccFees | null
}

/** The number of open trades and of open requests that the Diamond counts for a trader. */
export interface OpenCounts {
  readonly trades: number
  readonly requests: number
}

/** Everything that the chain keeps of one trader at one block. */
export interface FoundTrader {
  readonly trader: Address
  readonly positions: readonly FoundPosition[]
  /** Positions that have ended while a request about them still waits, with the collateral that it took. */
  readonly ended: readonly FoundPosition[]
  readonly resting: readonly FoundTrade[]
  /** All open requests, also those that no order shows, such as triggers of a bot. */
  readonly requests: readonly PendingOrder[]
  readonly counted: OpenCounts
}

/**
 * Returns the trades of the three lists. The Diamond fills its lists up with empty entries. Throws
 * `NodeUnavailableError` when the lists do not fit together.
 */
export function openTradesOf({ trades, infos, liquidationParams }: TradeLists): FoundTrade[] {
  if (trades.length !== infos.length || trades.length !== liquidationParams.length) {
    throw new NodeUnavailableError('the node gave lists of trades that do not fit together')
  }
  return trades.flatMap((trade, i) => (trade.isOpen ? foundTrade(trade, infos[i]!, liquidationParams[i]!) : []))
}

/** Brings together what the Diamond's views say of one trade. */
export function foundTrade(
  { __placeholder: _, ...trade }: ChainTrade,
  info: ChainTradeInfo,
  liquidationParams: LiquidationParams,
): FoundTrade {
  const { collateralPriceUsd, contractsVersion, lastPosIncreaseBlock, maxSlippageP, createdBlock } = info
  return {
    trade: withScales<Trade>(trade),
    info: { collateralPriceUsd, contractsVersion, lastPosIncreaseBlock },
    liquidationParams,
    maxSlippageP,
    createdBlock,
  }
}

/** A trade by its owner and its index. */
export interface TradeId {
  readonly user: `0x${string}`
  readonly index: number
}

/**
 * Returns the trades that have ended while a request about them still waits: a liquidation does not wait for the answer
 * to a close or a change.
 */
export function endedTradesOf(open: readonly FoundTrade[], requests: readonly PendingOrder[]): TradeId[] {
  const keyOf = ({ user, index }: TradeId): string => `${user}:${index}`
  const known = new Set(open.map(({ trade }) => keyOf(trade)))
  const ended = requests.flatMap(({ isOpen, orderType, user, trade }) => {
    const id = { user, index: trade.index }
    return isOpen && REQUESTS_ON_TRADE.has(orderType) && !known.has(keyOf(id)) ? [id] : []
  })
  return [...new Map(ended.map((id) => [keyOf(id), id])).values()]
}

/** Returns true for a position, false for a resting order. */
export function isPosition({ trade }: Pick<FoundTrade, 'trade'>): boolean {
  return trade.tradeType === TradeType.TRADE
}

/** Returns a position with its record of fees, without the fields that no valuation reads. */
export function withFees(found: FoundTrade, fees: ChainFeesData, old: ChainOldBorrowing): FoundPosition {
  const { realizedTradingFeesCollateral, realizedPnlCollateral, initialAccFundingFeeP, initialAccBorrowingFeeP } = fees
  const { accPairFee, accGroupFee, block } = old
  return {
    ...found,
    feesData: withScales<TradeFeesData>({
      realizedTradingFeesCollateral,
      realizedPnlCollateral,
      initialAccFundingFeeP,
      initialAccBorrowingFeeP,
    }),
    oldBorrowing: block === 0 ? null : { accPairFee, accGroupFee, block },
  }
}

/** Brings together what was read of each trader, in the order of `counted`. Ended positions are among the others. */
export function byTrader(of: {
  readonly counted: ReadonlyMap<Address, OpenCounts>
  readonly positions: readonly FoundPosition[]
  readonly resting: readonly FoundTrade[]
  readonly requests: readonly PendingOrder[]
}): FoundTrader[] {
  const [open, over] = [
    of.positions.filter(({ trade }) => trade.isOpen),
    of.positions.filter(({ trade }) => !trade.isOpen),
  ]
  const positions = Map.groupBy(open, ({ trade }) => trade.user)
  const ended = Map.groupBy(over, ({ trade }) => trade.user)
  const resting = Map.groupBy(of.resting, ({ trade }) => trade.user)
  const requests = Map.groupBy(
    of.requests.filter(({ isOpen }) => isOpen),
    ({ user }) => user,
  )
  return [...of.counted].map(([trader, counted]) => ({
    trader,
    positions: positions.get(trader) ?? [],
    ended: ended.get(trader) ?? [],
    resting: resting.get(trader) ?? [],
    requests: requests.get(trader) ?? [],
    counted,
  }))
}

/**
 * Returns what does not agree between the Diamond's counters of a trader and what was read of it; `undefined` when
 * everything was read.
 */
export function disagreementOf({ positions, resting, requests, counted }: FoundTrader): string | undefined {
  const trades = new Set([...positions, ...resting].map(({ trade }) => trade.index)).size
  if (trades !== counted.trades) return `${trades} trades were read and ${counted.trades} are open`
  const asked = new Set(requests.map(({ index }) => index)).size
  if (asked !== counted.requests) return `${asked} requests were read and ${counted.requests} are open`
  return undefined
}

/** A trader's counter of one kind: trades or requests. */
export interface TraderCounter extends Pick<Counter, 'currentIndex' | 'openCount'> {
  readonly trader: Address
}

/** Maximum number of entries that one call of a list returns. */
const MAX_ENTRIES_PER_CALL = 100

/**
 * Maximum number of indices, open or closed, that one call of a list goes through. The Diamond looks at every index
 * that a trader ever had, and nodes bound the gas of a call. A trader with more has calls of its own.
 */
const MAX_INDICES_PER_CALL = 5_000

/** One call of a list: its traders, and the entries of what they have open, both included. */
export interface ListCall {
  readonly traders: readonly Address[]
  readonly from: number
  readonly to: number
}

/** Divides what the traders have open into calls of a list. */
export function listCallsOf(counters: readonly TraderCounter[]): ListCall[] {
  const groups: { readonly traders: Address[]; entries: number; indices: number }[] = []
  for (const { trader, openCount, currentIndex } of counters) {
    if (openCount === 0) continue
    const last = groups.at(-1)
    const fits =
      last !== undefined &&
      last.entries + openCount <= MAX_ENTRIES_PER_CALL &&
      last.indices + currentIndex <= MAX_INDICES_PER_CALL
    const group = fits ? last : { traders: [], entries: 0, indices: 0 }
    if (!fits) groups.push(group)
    group.traders.push(trader)
    group.entries += openCount
    group.indices += currentIndex
  }
  return groups.flatMap(({ traders, entries }) =>
    Array.from({ length: Math.ceil(entries / MAX_ENTRIES_PER_CALL) }, (_, i) => {
      const from = i * MAX_ENTRIES_PER_CALL
      return { traders, from, to: Math.min(entries, from + MAX_ENTRIES_PER_CALL) - 1 }
    }),
  )
}

/**
 * Divides a call that could not be answered in two, so that one trader whose entries can't be listed does not keep the
 * others from being read. Returns none for a call of a single trader.
 */
export function halvesOf({ traders }: ListCall, counters: readonly TraderCounter[]): ListCall[] {
  if (traders.length === 1) return []
  const asked = new Set(traders)
  const of = counters.filter(({ trader }) => asked.has(trader))
  const middle = Math.ceil(of.length / 2)
  return [of.slice(0, middle), of.slice(middle)].flatMap(listCallsOf)
}
