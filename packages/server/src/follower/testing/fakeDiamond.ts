import { diamondAbi, type Address } from '@bezel/protocol'
import { decodeFunctionData, encodeFunctionResult, zeroAddress, type Hex } from 'viem'
import type { RpcCall, RpcClient, RpcOutcome } from '../../chain/rpcClient.ts'
import { chainTrade, stored } from './handMade.ts'
import type { PendingOrder } from '../foundTraders.ts'

type FakeTrade = ReturnType<typeof chainTrade>

/** The fee record of a trade; left out, nothing was charged. */
interface FakeFees {
  readonly realizedTradingFeesCollateral?: bigint
  readonly realizedPnlCollateral?: bigint
}

/**
 * The views of a Diamond that a snapshot reads, with the ways of the live one: its lists leave out who has nothing
 * open, count offsets by entry, and are filled up with empty entries.
 */
export interface FakeDiamond {
  /** Every trader that was ever stored, in that order. */
  readonly traders: Address[]
  /** Every trade and resting order; those that are not open have ended. */
  readonly trades: FakeTrade[]
  readonly requests: PendingOrder[]
  readonly fees: Map<string, FakeFees>
  /** Traders of whom the lists hold one trade less than the counters say. */
  readonly hidden: Set<Address>
  /** Traders with so many indices that the node can't list their trades. */
  readonly endless: Set<Address>
  /** Message of the node that can't list the trades of an endless trader. */
  endlessMessage: string
  /** Number of indices that a trader has used, where it is more than those of its open trades. */
  readonly currentIndices: Map<Address, number>
  /** Maximum number of indices, open or closed, that the node can list at once. */
  maxIndices: number
  /** Blocks below this one have no state any more. */
  stateFrom: number
  /** Returns true for a call whose answer is too large for the node. */
  isTooLarge: (functionName: string, args: readonly unknown[]) => boolean
  /** Number of calls of views so far. */
  calls: number
  /** Number of calls in the largest batch so far. */
  largestBatch: number
  /** Called before each batch with a call of a view. */
  onRead: () => void
  /** Returns a client that answers calls of views itself. */
  over(client: RpcClient): RpcClient
}

/** Selector of `aggregate3` of Multicall3. */
const AGGREGATE3 = '0x82ad56cb'

export function createFakeDiamond(): FakeDiamond {
  const fake: FakeDiamond = {
    traders: [],
    trades: [],
    requests: [],
    fees: new Map(),
    hidden: new Set(),
    endless: new Set(),
    endlessMessage: 'out of gas',
    currentIndices: new Map(),
    maxIndices: Infinity,
    stateFrom: 0,
    isTooLarge: () => false,
    calls: 0,
    largestBatch: 0,
    onRead: () => {},
    over: (client) => ({
      roundTrips: client.roundTrips,
      async batch(calls) {
        fake.largestBatch = Math.max(fake.largestBatch, calls.length)
        if (calls.some(({ method }) => method === 'eth_call')) fake.onRead()
        const outcomes = await client.batch(calls)
        return calls.map((call, i) => (call.method === 'eth_call' ? answer(call) : outcomes[i]!))
      },
    }),
  }

  function answer({ params }: RpcCall): RpcOutcome {
    const [{ data }, block] = params as [{ readonly data: Hex }, Hex]
    // There is no Multicall3 on this chain.
    if (data.startsWith(AGGREGATE3)) return { ok: true, result: '0x' }
    fake.calls += 1
    if (Number(block) < fake.stateFrom)
      return { ok: false, code: -32000, message: 'missing trie node', data: undefined }
    const { functionName, args = [] } = decodeFunctionData({ abi: diamondAbi, data })
    const view = VIEWS[functionName]
    if (view === undefined) throw new Error(`${functionName} is not faked`)
    if (fake.isTooLarge(functionName, args)) {
      return { ok: false, code: -32000, message: 'the response is too large', data: undefined }
    }
    const result = view(fake, ...(args as readonly never[]))
    if (result === OUT_OF_GAS) return { ok: false, code: -32000, message: fake.endlessMessage, data: undefined }
    return { ok: true, result: encodeFunctionResult({ abi: diamondAbi, functionName, result } as never) }
  }

  return fake
}

const OUT_OF_GAS = Symbol('out of gas')

type State = Pick<
  FakeDiamond,
  'traders' | 'trades' | 'requests' | 'fees' | 'hidden' | 'endless' | 'currentIndices' | 'maxIndices'
>

const VIEWS: Readonly<Record<string, (fake: State, ...args: never[]) => unknown>> = {
  getTradersCount: ({ traders }) => BigInt(traders.length),
  getTraders(fake, from: number, to: number) {
    const last = to === 0 ? fake.traders.length - 1 : Math.min(to, fake.traders.length - 1)
    const part = fake.traders.slice(from, last + 1)
    const active = part.filter((trader) => openTrades(fake, trader).length + openRequests(fake, trader).length > 0)
    return [...active, ...part.slice(active.length).map(() => zeroAddress as Address)]
  },
  getCountersForTraders: (fake, traders: Address[], kind: number) =>
    traders.map((trader) => ({
      openCount: (kind === 0 ? openTrades(fake, trader) : openRequests(fake, trader)).length,
      currentIndex: indicesOf(fake, trader, kind),
      __placeholder: 0n,
    })),
  getAllTradesForTraders: (fake, ...part: Part) =>
    listed(fake, part, (trader) => openTrades(fake, trader).slice(fake.hidden.has(trader) ? 1 : 0), NO_TRADE),
  getAllTradeInfosForTraders: (fake, ...part: Part) =>
    listed(fake, part, (trader) => openTrades(fake, trader).map(() => STORED.tradeInfo), NO_INFO),
  getAllTradesLiquidationParamsForTraders: (fake, ...part: Part) =>
    listed(fake, part, (trader) => openTrades(fake, trader).map(() => STORED.liquidationParams), NO_PARAMS),
  getAllPendingOrdersForTraders: (fake, ...part: Part) =>
    isTooMuch(fake, part, 1)
      ? OUT_OF_GAS
      : entriesOf(part, (trader) => openRequests(fake, trader), { ...NO_REQUEST, trade: NO_TRADE }),
  getTrade: ({ trades }, trader: Address, at: number) =>
    trades.find(({ user, index }) => user === trader && index === at) ?? NO_TRADE,
  getTradeInfo: () => STORED.tradeInfo,
  getTradeLiquidationParams: () => STORED.liquidationParams,
  getTradeFeesDataArray: ({ fees }, traders: Address[], indices: number[]) =>
    traders.map((trader, i) => feesOf(fees.get(`${trader}:${indices[i]}`))),
  getBorrowingInitialAccFees: () => ({ accPairFee: 7n, accGroupFee: 9n, block: 3, __placeholder: 0n }),
}

function openTrades({ trades }: State, trader: Address): FakeTrade[] {
  return trades.filter(({ user, isOpen }) => isOpen && user === trader)
}

function openRequests({ requests }: State, trader: Address): PendingOrder[] {
  return requests.filter(({ user }) => user === trader)
}

/** The arguments of a list: traders, first and last entry. */
type Part = readonly [traders: readonly Address[], from: bigint, to: bigint]

/** Returns the number of indices that a trader has used: of trades (0) or of requests (1). */
function indicesOf(fake: State, trader: Address, kind: number): number {
  const open = kind === 0 ? openTrades(fake, trader) : openRequests(fake, trader)
  return fake.currentIndices.get(trader) ?? Math.max(0, ...open.map(({ index }) => index + 1))
}

function isTooMuch(fake: State, [traders]: Part, kind: number): boolean {
  return traders.reduce((sum, trader) => sum + indicesOf(fake, trader, kind), 0) > fake.maxIndices
}

function listed<Entry>(
  fake: State,
  part: Part,
  openOf: (trader: Address) => readonly Entry[],
  empty: Entry,
): Entry[] | typeof OUT_OF_GAS {
  const isEndless = part[0].some((trader) => fake.endless.has(trader))
  return isEndless || isTooMuch(fake, part, 0) ? OUT_OF_GAS : entriesOf(part, openOf, empty)
}

function entriesOf<Entry>(
  [traders, from, to]: Part,
  openOf: (trader: Address) => readonly Entry[],
  empty: Entry,
): Entry[] {
  const found = traders.flatMap(openOf).slice(Number(from), Number(to) + 1)
  return Array.from({ length: Number(to - from) + 1 }, (_, i) => found[i] ?? empty)
}

function feesOf(fees: FakeFees = {}): object {
  return {
    realizedTradingFeesCollateral: 0n,
    realizedPnlCollateral: 0n,
    manuallyRealizedNegativePnlCollateral: 0n,
    alreadyTransferredNegativePnlCollateral: 0n,
    virtualAvailableCollateralInDiamond: 0n,
    __placeholder: 0n,
    initialAccFundingFeeP: -5n,
    initialAccBorrowingFeeP: 6n,
    ...fees,
  }
}

const STORED = stored().args

const NO_TRADE = emptied(chainTrade())
const NO_INFO = emptied(STORED.tradeInfo)
const NO_PARAMS = emptied(STORED.liquidationParams)
const NO_REQUEST = {
  user: zeroAddress as `0x${string}`,
  index: 0,
  isOpen: false,
  orderType: 0,
  createdBlock: 0,
  maxSlippageP: 0,
}

/** Returns the struct with every field as storage that was never written has it. */
function emptied<Struct extends object>(struct: Struct): Struct {
  const zero = (value: unknown): unknown => {
    if (typeof value === 'string') return zeroAddress
    return typeof value === 'bigint' ? 0n : typeof value === 'boolean' ? false : 0
  }
  return Object.fromEntries(Object.entries(struct).map(([name, value]) => [name, zero(value)])) as Struct
}
