import { diamondAbi, type Hex, ApiError, type Address, type CollateralAmount, type Price } from '@bezel/protocol'
import {
  encodeFunctionData,
  prepareEncodeFunctionData,
  zeroAddress,
  type ContractFunctionArgs,
  type ContractFunctionName,
} from 'viem'
import type { AttemptId } from '../orders/orderModel.ts'

/** The most calls of a `multicall`; the Diamond reverts with `AboveMax` beyond. */
export const MAX_CALLS = 20

interface CallsToWrap {
  /** Calls of the trader, at least one. */
  readonly calls: readonly Hex[]
  readonly trader: Address
  /** Sender of the transaction. */
  readonly agent: Address
  readonly attemptId: AttemptId
}

interface WrappedCalls {
  /** Call that the trader would send itself; a refused simulation can be replayed with it. */
  readonly inner: Hex
  /** The whole input of the agent's transaction. */
  readonly data: Hex
}

// ABI-encoded calls of the Diamond, of which plans are made. Prices are 1e10, leverage is 1e3, slippage is 1e3 per
// percent.

type Abi = typeof diamondAbi

/**
 * Prepares a function, so that its lookup in the ABI and the hash of its selector are done once, not at every encoding.
 */
const prepared = <N extends ContractFunctionName<Abi, 'nonpayable'>>(functionName: N) =>
  prepareEncodeFunctionData({ abi: diamondAbi, functionName } as never)

const PREPARED = {
  openTrade: prepared('openTrade'),
  updateOpenOrder: prepared('updateOpenOrder'),
  cancelOpenOrder: prepared('cancelOpenOrder'),
  cancelOrderAfterTimeout: prepared('cancelOrderAfterTimeout'),
  closeTradeMarket: prepared('closeTradeMarket'),
  decreasePositionSize: prepared('decreasePositionSize'),
  updateMaxClosingSlippageP: prepared('updateMaxClosingSlippageP'),
  updateSl: prepared('updateSl'),
  updateTp: prepared('updateTp'),
  updateLeverage: prepared('updateLeverage'),
  multicall: prepared('multicall'),
  delegatedTradingAction: prepared('delegatedTradingAction'),
}

/** The names of all functions of the Diamond that prepared transactions call. */
export const ENCODED_CALLS = Object.keys(PREPARED) as readonly (keyof typeof PREPARED)[]

export function encodeCall<N extends keyof typeof PREPARED>(
  functionName: N,
  args: ContractFunctionArgs<Abi, 'nonpayable', N>,
): Hex {
  return encodeFunctionData({ ...PREPARED[functionName], args } as never) as Hex
}

/** The fields that `openTrade` takes; the Diamond fills in the rest of the struct itself. */
export interface NewTrade {
  readonly user: `0x${string}`
  readonly pairIndex: number
  readonly leverage: number
  readonly long: boolean
  readonly collateralIndex: number
  readonly tradeType: number
  readonly collateralAmount: CollateralAmount
  /** Trigger price of a resting order, or expected price of a market order. */
  readonly openPrice: Price
  /** Take profit and stop loss; 0 means none. */
  readonly tp: Price
  readonly sl: Price
}

/** Referrer of every trade: this service uses no referrals. */
const NO_REFERRER = zeroAddress

export function encodeOpenTrade(trade: NewTrade, maxSlippageP: number): Hex {
  const struct = {
    ...trade,
    index: 0,
    isOpen: true,
    isCounterTrade: false,
    positionSizeToken: 0n,
    __placeholder: 0,
  }
  return encodeCall('openTrade', [struct, maxSlippageP, NO_REFERRER])
}

/**
 * Wraps calls into one transaction. Several calls become one `multicall`; an agent other than the trader goes through
 * `delegatedTradingAction` (the trader itself must not, because it is not its own delegate). The attempt's id is
 * appended to the end, which the contracts' ABI decoder ignores.
 */
export function wrapCalls({ calls, trader, agent, attemptId }: CallsToWrap): WrappedCalls {
  requireCallCount(calls.length)
  const [only] = calls
  if (only === undefined) throw new RangeError('there is nothing to send')
  const inner = calls.length === 1 ? only : encodeCall('multicall', [calls])
  const sent = agent === trader ? inner : encodeCall('delegatedTradingAction', [trader, inner])
  return { inner, data: `${sent}${attemptId.slice(2)}` as Hex }
}

/** Throws `UNSUPPORTED` when one transaction can't hold so many calls. */
export function requireCallCount(count: number): void {
  if (count <= MAX_CALLS) return
  const message = `This takes ${count} calls of the Diamond, and one transaction holds ${MAX_CALLS}. Ask for less at once.`
  throw new ApiError('UNSUPPORTED', message, { calls: count, maxCalls: MAX_CALLS })
}
