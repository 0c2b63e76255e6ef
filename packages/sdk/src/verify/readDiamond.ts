import {
  aggregatorAndCallbacksAbi,
  CollateralPrice,
  HUNDRED_PERCENT,
  pairsStorageAbi,
  PercentP,
  Price,
  tradingStorageAbi,
  type MarketCollateral,
} from '@bezel/protocol/wire'
import {
  decodeFunctionResult,
  encodeFunctionData,
  parseAbi,
  zeroAddress,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
} from 'viem'
import type { TransactionSender } from '../senders/transactionSender.ts'
import { BezelNodeError } from '../errors/broadcastError.ts'
import { UnverifiedTransactionError } from '../errors/transactionErrors.ts'
import type { ChainFacts, ChainPrice, PendingFacts, TradeFacts } from './verifyContext.ts'

const abi = [
  ...aggregatorAndCallbacksAbi,
  ...pairsStorageAbi,
  ...tradingStorageAbi,
  ...parseAbi([
    'function symbol() view returns (string)',
    'function decimals() view returns (uint8)',
    'function latestRoundData() view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)',
    'function allowance(address owner, address spender) view returns (uint256)',
    'function getTradeCumulVolPriceImpactP(address trader, uint16 pairIndex, bool long, uint256 tradeOpenInterestUsd, bool isPnlPositive, bool open, uint256 lastPosIncreaseBlock) view returns (int256)',
  ]),
] as const

type Abi = typeof abi

type ViewName = ContractFunctionName<Abi, 'view'>

/** Reads a contract through the caller's own node. */
export type ReadContract = <Name extends ViewName>(
  address: `0x${string}`,
  functionName: Name,
  args: ContractFunctionArgs<Abi, 'view', Name>,
) => Promise<ContractFunctionReturnType<Abi, 'view', Name>>

/** Attempts at a consistent reading: two reads of different blocks can disagree about the number of trades. */
const MAX_TRIES = 3

/**
 * Returns a reader over the sender's node; `undefined` when the sender can't read. The reader throws `BezelNodeError`,
 * also for an answer that is none of the contract: there is no such contract on another chain.
 */
export function readerOf(sender: TransactionSender | undefined): ReadContract | undefined {
  if (sender?.call === undefined) return undefined
  const call = sender.call.bind(sender)
  return async (address, functionName, args) => {
    const input = encodeFunctionData({ abi, functionName, args } as never)
    try {
      return decodeFunctionResult({ abi, functionName, data: await call(address, input) } as never) as never
    } catch (error) {
      throw new BezelNodeError(`eth_call of ${functionName} at ${address}`, error)
    }
  }
}

/** Reads the trader's trades and waiting requests from the Diamond. */
export async function readChainFacts(
  read: ReadContract,
  diamond: `0x${string}`,
  trader: `0x${string}`,
): Promise<ChainFacts> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const [trades, infos, pending] = await Promise.all([
      read(diamond, 'getTrades', [trader]),
      read(diamond, 'getTradeInfos', [trader]),
      read(diamond, 'getPendingOrders', [trader]),
    ])
    if (trades.length === infos.length) {
      return {
        trades: trades.map((trade, place) => tradeFacts(trade, infos[place]!)),
        pending: pending.map(pendingFacts),
      }
    }
  }
  throw new UnverifiedTransactionError('trades', 'one account of them by your node', 'two that differ, again and again')
}

/** Finds a collateral token of the Diamond by the symbol that the token gives itself, active or not. */
export async function findToken(
  read: ReadContract,
  diamond: `0x${string}`,
  symbol: string,
): Promise<MarketCollateral | undefined> {
  const tokens = await read(diamond, 'getCollaterals', [])
  for (const [place, { collateral: address }] of tokens.entries()) {
    if ((await read(address, 'symbol', [])) !== symbol) continue
    // The Diamond's index starts from 1.
    return { symbol, index: place + 1, address, decimals: await read(address, 'decimals', []) }
  }
  return undefined
}

/** Lists the symbols of the Diamond's collaterals, as the tokens themselves tell them. */
export async function listTokenSymbols(read: ReadContract, diamond: `0x${string}`): Promise<string[]> {
  const tokens = await read(diamond, 'getCollaterals', [])
  return Promise.all(tokens.map(({ collateral }) => read(collateral, 'symbol', [])))
}

/** A trade to open, in the chain's own scales. */
export interface OpeningFacts {
  readonly trader: `0x${string}`
  readonly pairIndex: number
  readonly long: boolean
  /** Size in base units, 1e18. */
  readonly size: bigint
  /** Price that it is expected to execute at, before spread and impact; 1e10. */
  readonly price: bigint
}

/** Bounds the search for the notional whose impact is its own. Two or three steps are usual. */
const MAX_IMPACT_STEPS = 8

/** The change of the notional below which the search ends: 1e-6 of it, far below the tolerance of the check. */
const SETTLED_SHARE = 1_000_000n

/**
 * Reads the spread and the volume impact that the Diamond would charge an opening of that size. The impact depends on
 * the notional and the notional on the impact, so the view is asked until the two agree.
 */
export async function readOpeningImpact(
  read: ReadContract,
  diamond: `0x${string}`,
  { trader, pairIndex, long, size, price }: OpeningFacts,
): Promise<PercentP> {
  const half = (await read(diamond, 'pairSpreadP', [trader, BigInt(pairIndex)])) / 2n
  const spreadP = long ? half : -half
  // USD, 1e18.
  const notionalAt = (impactP: bigint): bigint => (size * (price + (price * impactP) / HUNDRED_PERCENT)) / Price.one
  let impactP = spreadP
  let notional = notionalAt(0n)
  for (let step = 0; step < MAX_IMPACT_STEPS; step += 1) {
    const args = [trader, pairIndex, long, notional, false, true, 0n] as const
    impactP = spreadP + (await read(diamond, 'getTradeCumulVolPriceImpactP', args))
    const next = notionalAt(impactP)
    const moved = next > notional ? next - notional : notional - next
    notional = next
    if (moved * SETTLED_SHARE < notional) break
  }
  return PercentP.of(impactP)
}

/** The ways in which the Diamond makes the price of a pair from its feeds: as it is, inverted, or as a quotient. */
const FEED_CALCULATION = { plain: 0, inverted: 1, quotient: 2 } as const

/** Greatest age of a feed's answer: feeds are renewed at least once a day. */
const MAX_FEED_AGE_S = 90_000

/** Distance that is accepted where the Diamond names none. */
const DEFAULT_FEED_TOLERANCE_PERCENT = '5'

/**
 * Reads the price of a pair on the chain, from the feeds that the Diamond has for it. `undefined` when it has none, or
 * when they can't be read or are out of date.
 */
export async function readPairPrice(
  read: ReadContract,
  diamond: `0x${string}`,
  pairIndex: number,
  nowMs: number,
): Promise<ChainPrice | undefined> {
  const { feed } = await read(diamond, 'pairs', [BigInt(pairIndex)])
  if (feed.feed1 === zeroAddress) return undefined
  const first = await readFeed(read, feed.feed1, nowMs)
  const isQuotient = feed.feedCalculation === FEED_CALCULATION.quotient
  const second = isQuotient ? await readFeed(read, feed.feed2, nowMs) : Price.one
  if (first === undefined || second === undefined) return undefined
  const isInverted = feed.feedCalculation === FEED_CALCULATION.inverted
  const units = isInverted ? (Price.one * Price.one) / first : (first * Price.one) / second
  const tolerancePercent =
    feed.maxDeviationP === 0n ? DEFAULT_FEED_TOLERANCE_PERCENT : PercentP.format(PercentP.of(feed.maxDeviationP))
  return units === 0n ? undefined : { price: Price.format(Price.of(units)), tolerancePercent }
}

/** Reads the answer of one feed as a price, 1e10. */
async function readFeed(read: ReadContract, feed: `0x${string}`, nowMs: number): Promise<bigint | undefined> {
  try {
    const [decimals, [, answer, , updatedAt]] = await Promise.all([
      read(feed, 'decimals', []),
      read(feed, 'latestRoundData', []),
    ])
    const isOld = BigInt(Math.floor(nowMs / 1_000)) - updatedAt > MAX_FEED_AGE_S
    const units = (answer * Price.one) / 10n ** BigInt(decimals)
    return isOld || units <= 0n ? undefined : units
  } catch {
    return undefined
  }
}

type Trade = Omit<TradeFacts, 'maxSlippageP' | 'size'> & { readonly positionSizeToken: bigint }

function tradeFacts(
  trade: Trade,
  { maxSlippageP, collateralPriceUsd }: { readonly maxSlippageP: number; readonly collateralPriceUsd: number },
): TradeFacts {
  const { positionSizeToken } = trade
  // The size in base units: times the price it is USD, at the token's price when the trade was opened.
  const size =
    positionSizeToken === 0n ? undefined : (positionSizeToken * BigInt(collateralPriceUsd)) / CollateralPrice.one
  return { ...trade, maxSlippageP, size }
}

function pendingFacts(pending: {
  readonly index: number
  readonly orderType: number
  readonly trade: { readonly index: number; readonly pairIndex: number; readonly long: boolean }
}): PendingFacts {
  const { index, orderType, trade } = pending
  return { index, orderType, pairIndex: trade.pairIndex, tradeIndex: trade.index, long: trade.long }
}
