import type { Address, diamondAbi } from '@bezel/protocol'
import { numberToHex, zeroAddress, type ContractFunctionArgs, type ContractFunctionReturnType, type Hex } from 'viem'
import { blockCall, newestHeaderCall, parseBlock, parseHeader, resultOf } from '../chain/blocks.ts'
import { createCallRound, diamondCall, type CallRound, type Later } from '../chain/diamondCalls.ts'
import { createMulticallClient } from '../chain/multicallClient.ts'
import { isRevert, type RpcClient, type RpcOutcome } from '../chain/rpcClient.ts'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { FollowedBlock } from '../store/blockStore.ts'
import {
  byTrader,
  endedTradesOf,
  foundTrade,
  halvesOf,
  isPosition,
  listCallsOf,
  openTradesOf,
  withFees,
  type FoundPosition,
  type FoundTrade,
  type FoundTrader,
  type ListCall,
  type OpenCounts,
  type PendingOrder,
  type TradeId,
  type TradeLists,
  type TraderCounter,
} from './foundTraders.ts'

/** A node and the Diamond on its chain. */
export interface DiamondNode {
  readonly client: RpcClient
  /** Client for views that take little gas each, many of which are one call to the node. */
  readonly views: RpcClient
  readonly diamond: Address
}

export function createDiamondNode(of: Pick<DiamondNode, 'client' | 'diamond'>): DiamondNode {
  return { ...of, views: createMulticallClient(of.client) }
}

/** The Diamond's numbers of its two counters. */
const COUNTER_TYPE = { trade: 0, pendingOrder: 1 } as const

/** Maximum number of traders, or of trades, in one call: more would take long to decode, without a break. */
const MAX_PER_CALL = 100

/** Reads the node's head and the number of entries in the Diamond's list of traders at it. */
export async function readSnapshotBlock(
  node: DiamondNode,
): Promise<{ readonly block: FollowedBlock; readonly traderCount: number }> {
  const [header] = await node.client.batch([newestHeaderCall])
  const { block } = parseHeader(resultOf(header))
  const round = startRound(node, block)
  const counted = round.view('getTradersCount', [])
  await round.run()
  return { block, traderCount: Number(counted()) }
}

/**
 * Reads a part of the Diamond's list of traders; none when it ends before it begins. `listed` is the number of entries
 * in the whole list.
 */
export async function readTraderListPart(
  node: DiamondNode,
  block: FollowedBlock,
  { from, to }: ListPart,
): Promise<{ readonly traders: readonly Address[]; readonly listed: number }> {
  const round = startRound(node, block)
  const counted = round.view('getTradersCount', [])
  const parts: Later<readonly Hex[]>[] = []
  for (let at = from; at <= to; at += MAX_PER_CALL) {
    parts.push(round.view('getTraders', [at, Math.min(at + MAX_PER_CALL - 1, to)]))
  }
  await round.run()
  return { traders: tradersIn(parts.flatMap((part) => part())), listed: Number(counted()) }
}

/** Maximum number of open trades and requests in one part of the list; those of a single entry may be more. */
const MAX_OPEN_PER_PART = 1_000

/** A part of the Diamond's list of traders: its first and its last entry. */
interface ListPart {
  readonly from: number
  readonly to: number
}

/**
 * Reads everything that the chain keeps of the traders in a part of the Diamond's list, or of as many of its entries as
 * fit into one part. Returns the last entry that was read. Throws like `readTraders`.
 */
export async function readPart(
  node: DiamondNode,
  block: FollowedBlock,
  { from, to }: ListPart,
): Promise<{ readonly found: FoundTrader[]; readonly to: number }> {
  // The Diamond takes 0 for the end of the list.
  const last = Math.max(1, to)
  const counters = await readCounters(node, block, await readTraderList(node, block, { from, to: last }))
  const open = [...counters.trades, ...counters.requests].reduce((sum, { openCount }) => sum + openCount, 0)
  if (open > MAX_OPEN_PER_PART && last > Math.max(1, from)) {
    const entries = Math.floor(((last - from + 1) * MAX_OPEN_PER_PART) / open)
    return readPart(node, block, { from, to: from + Math.max(1, entries) - 1 })
  }
  return { found: await readFound(node, block, counters), to: last }
}

/**
 * Reads a part of the Diamond's list of traders. The Diamond leaves out traders without anything open and fills up with
 * empty entries; a trader may be listed twice.
 */
async function readTraderList(node: DiamondNode, block: FollowedBlock, { from, to }: ListPart): Promise<Address[]> {
  const round = startRound(node, block)
  const listed = round.view('getTraders', [from, to])
  await round.run()
  return tradersIn(listed())
}

/** Returns the traders in a list that was decoded, and so has its addresses with their checksums. */
function tradersIn(listed: readonly Hex[]): Address[] {
  return [...new Set(listed.filter((address) => address !== zeroAddress) as Address[])]
}

/**
 * Reads everything that the chain keeps of these traders at a block. Throws `BlockGoneError` when the node has another
 * block of that number, and `NodeUnavailableError` when it does not answer or no longer has the state of the block.
 */
export async function readTraders(
  node: DiamondNode,
  block: FollowedBlock,
  traders: readonly Address[],
): Promise<FoundTrader[]> {
  if (traders.length === 0) return []
  return readFound(node, block, await readCounters(node, block, traders))
}

async function readFound(node: DiamondNode, block: FollowedBlock, counters: Counters): Promise<FoundTrader[]> {
  const { trades, requests: asked } = await readLists(node, block, counters)
  const open = trades.flatMap(openTradesOf)
  const ended = await readEnded(node, block, endedTradesOf(open, asked))
  const positions = await readFees(node, block, [...open.filter(isPosition), ...ended])
  return byTrader({
    counted: countsOf(counters),
    positions,
    resting: open.filter((found) => !isPosition(found)),
    requests: asked,
  })
}

/** The trades of some traders as the Diamond lists them. */
export interface ListedTrades {
  /** The open trades of those who have some and whose trades can be listed. */
  readonly trades: readonly FoundTrade[]
  /** The last trader that was looked at. */
  readonly last: Address
}

/** Reads the open trades of as many of these traders, from the first on, as one call of a list holds. */
export async function readListedTrades(
  node: DiamondNode,
  block: FollowedBlock,
  traders: readonly [Address, ...Address[]],
): Promise<ListedTrades> {
  const { trades: counters } = await readCounters(node, block, traders)
  const [first] = listCallsOf(counters)
  if (first === undefined) return { trades: [], last: traders.at(-1)! }
  const asked = new Set(first.traders)
  const trades = counters.filter(({ trader }) => asked.has(trader))
  const read = await readLists(node, block, { trades, requests: [] })
  return { trades: read.trades.flatMap(openTradesOf), last: first.traders.at(-1)! }
}

/**
 * Reads the lists of trades and requests. Calls of several traders that can't be answered are asked again in halves, so
 * only the traders that can't be read alone count as traders without entries.
 */
async function readLists(
  node: DiamondNode,
  block: FollowedBlock,
  counters: Counters,
): Promise<{ readonly trades: TradeLists[]; readonly requests: PendingOrder[] }> {
  const trades: TradeLists[] = []
  const requests: PendingOrder[] = []
  let left = { trades: listCallsOf(counters.trades), requests: listCallsOf(counters.requests) }
  do {
    // A list of trades takes so much gas that several of them in one call may be too much for the node.
    const round = startRound({ ...node, views: node.client }, block)
    const ofTrades = left.trades.map((call) => ({ call, list: tradeLists(round, call) }))
    const ofRequests = left.requests.map((call) => ({ call, list: requestList(round, call) }))
    await round.run()
    trades.push(...ofTrades.flatMap(({ list }) => list() ?? []))
    requests.push(...ofRequests.flatMap(({ list }) => list() ?? []))
    left = { trades: unansweredOf(ofTrades, counters.trades), requests: unansweredOf(ofRequests, counters.requests) }
  } while (left.trades.length + left.requests.length > 0)
  return { trades, requests }
}

/** Returns the calls to ask in place of those that could not be answered. */
function unansweredOf(
  asked: readonly { readonly call: ListCall; readonly list: Later<unknown> }[],
  counters: readonly TraderCounter[],
): ListCall[] {
  return asked.flatMap(({ call, list }) => (list() === undefined ? halvesOf(call, counters) : []))
}

interface Counters {
  readonly trades: readonly TraderCounter[]
  readonly requests: readonly TraderCounter[]
}

async function readCounters(node: DiamondNode, block: FollowedBlock, traders: readonly Address[]): Promise<Counters> {
  const round = startRound(node, block)
  const parts = chunksOf(traders).map((part) => {
    // A checksum costs a hash, for each of thousands of addresses, when one is encoded; small letters have none.
    const asked = part.map((trader) => trader.toLowerCase() as Address)
    return {
      part,
      trades: round.view('getCountersForTraders', [asked, COUNTER_TYPE.trade]),
      requests: round.view('getCountersForTraders', [asked, COUNTER_TYPE.pendingOrder]),
    }
  })
  await round.run()
  const of = (kind: 'trades' | 'requests'): TraderCounter[] =>
    parts.flatMap(({ part, [kind]: counters }) => {
      const read = counters()
      if (read.length !== part.length) throw new NodeUnavailableError('the node left out counters of traders')
      return part.map((trader, i) => ({
        trader,
        currentIndex: read[i]!.currentIndex,
        openCount: read[i]!.openCount,
      }))
    })
  return { trades: of('trades'), requests: of('requests') }
}

/** Reads the open trades and requests that the Diamond counts for these traders. */
export async function readOpenCounts(
  node: DiamondNode,
  block: FollowedBlock,
  traders: readonly Address[],
): Promise<ReadonlyMap<Address, OpenCounts>> {
  return countsOf(await readCounters(node, block, traders))
}

function countsOf({ trades, requests }: Counters): ReadonlyMap<Address, OpenCounts> {
  return new Map(
    trades.map(({ trader, openCount }, i) => [trader, { trades: openCount, requests: requests[i]!.openCount }]),
  )
}

/** Adds the calls of the three lists of trades; `undefined` when the contract can't answer one of them. */
function tradeLists(round: BlockRound, call: ListCall): Later<TradeLists | undefined> {
  const args = argumentsOf(call)
  const trades = round.list('getAllTradesForTraders', args)
  const infos = round.list('getAllTradeInfosForTraders', args)
  const liquidationParams = round.list('getAllTradesLiquidationParamsForTraders', args)
  return () => {
    const lists = [trades(), infos(), liquidationParams()] as const
    if (lists.includes(undefined)) return undefined
    return { trades: lists[0]!, infos: lists[1]!, liquidationParams: lists[2]! }
  }
}

function requestList(round: BlockRound, call: ListCall): Later<readonly PendingOrder[] | undefined> {
  return round.list('getAllPendingOrdersForTraders', argumentsOf(call))
}

function argumentsOf({ traders, from, to }: ListCall): readonly [readonly Address[], bigint, bigint] {
  return [traders, BigInt(from), BigInt(to)]
}

/** Reads positions that have ended, which the Diamond keeps as they were. */
async function readEnded(node: DiamondNode, block: FollowedBlock, ids: readonly TradeId[]): Promise<FoundTrade[]> {
  if (ids.length === 0) return []
  const round = startRound(node, block)
  const found = ids.map(({ user, index }) => ({
    trade: round.view('getTrade', [user, index]),
    info: round.view('getTradeInfo', [user, index]),
    liquidationParams: round.view('getTradeLiquidationParams', [user, index]),
  }))
  await round.run()
  return found
    .map(({ trade, info, liquidationParams }) => foundTrade(trade(), info(), liquidationParams()))
    .filter(({ trade }) => !trade.isOpen && trade.user !== zeroAddress)
}

/** Reads the fee records of positions, without which their liquidation prices would be far off. */
async function readFees(
  node: DiamondNode,
  block: FollowedBlock,
  positions: readonly FoundTrade[],
): Promise<FoundPosition[]> {
  if (positions.length === 0) return []
  const round = startRound(node, block)
  const parts = chunksOf(positions).map((part) => ({
    part,
    fees: round.view('getTradeFeesDataArray', [
      part.map(({ trade }) => trade.user),
      part.map(({ trade }) => trade.index),
    ]),
    old: part.map(({ trade }) =>
      round.view('getBorrowingInitialAccFees', [trade.collateralIndex, trade.user, trade.index]),
    ),
  }))
  await round.run()
  return parts.flatMap(({ part, fees, old }) => {
    const records = fees()
    if (records.length !== part.length) throw new NodeUnavailableError('the node left out fee records of trades')
    return part.map((found, i) => withFees(found, records[i]!, old[i]!()))
  })
}

function chunksOf<Item>(items: readonly Item[]): Item[][] {
  const chunks: Item[][] = []
  for (let from = 0; from < items.length; from += MAX_PER_CALL) chunks.push(items.slice(from, from + MAX_PER_CALL))
  return chunks
}

/** A round of calls at one block. */
interface BlockRound extends Pick<CallRound, 'view' | 'run'> {
  /**
   * Adds a call of a list; `undefined` when the contract can't answer it. The Diamond looks at every index that a
   * trader ever had, and for one with very many a node may run out of gas: that must not keep all others from being
   * read.
   */
  list<N extends ListName>(
    functionName: N,
    args: ContractFunctionArgs<typeof diamondAbi, 'view', N>,
  ): Later<ContractFunctionReturnType<typeof diamondAbi, 'view', N> | undefined>
}

type ListName =
  | 'getAllTradesForTraders'
  | 'getAllTradeInfosForTraders'
  | 'getAllTradesLiquidationParamsForTraders'
  | 'getAllPendingOrdersForTraders'

/**
 * Starts a round of calls at a block. Its last call asks for the block itself: as long as that has the same hash, all
 * calls before it were answered from the same chain.
 */
function startRound({ views, diamond }: DiamondNode, block: FollowedBlock): BlockRound {
  const at = numberToHex(block.number)
  const round = createCallRound(views, diamond, at)
  return {
    view: round.view,
    list(functionName, args) {
      const { call, decode } = diamondCall(diamond, functionName, args as never, at)
      return round.add({ call, decode: (outcome) => (isTooLong(outcome) ? undefined : (decode(outcome) as never)) })
    },
    async run() {
      const now = round.add({
        call: blockCall(block.number, false),
        decode: (outcome) => parseBlock(resultOf(outcome))?.block.hash,
      })
      await round.run()
      if (now() === undefined) throw new NodeUnavailableError('the node no longer has the block of the snapshot')
      if (now() !== block.hash) throw new BlockGoneError(block.number)
    },
  }
}

/** Matches messages of nodes that give up a call after a time of their own. */
const GIVEN_UP_PATTERN = /abort|time(?:d |-)?out/i

/** Returns true when the contract or the node gave up the call itself, which another attempt would not change. */
function isTooLong(outcome: RpcOutcome): boolean {
  return isRevert(outcome) || (!outcome.ok && GIVEN_UP_PATTERN.test(outcome.message))
}

/** Thrown when a block was reorganised away while it was read. */
export class BlockGoneError extends NodeUnavailableError {
  constructor(number: number) {
    super(`block ${number} was replaced by another one while it was read`)
  }
}
