import { diamondAbi, type Hex } from '@bezel/protocol'
import {
  encodeFunctionData,
  prepareEncodeFunctionData,
  zeroAddress,
  type ContractFunctionArgs,
  type ContractFunctionName,
} from 'viem'

// Calls of the Diamond that plans are made of, ABI-encoded. Prices are 1e10, leverage 1e3, slippage 1e3 per percent.

type Abi = typeof diamondAbi

/** Found in the interface and hashed to its selector once, not at every encoding. */
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

export function encodeCall<N extends keyof typeof PREPARED>(
  functionName: N,
  args: ContractFunctionArgs<Abi, 'nonpayable', N>,
): Hex {
  return encodeFunctionData({ ...PREPARED[functionName], args } as never) as Hex
}

/** What `openTrade` is told; the Diamond fills in the rest of the struct itself. */
export interface NewTrade {
  readonly user: `0x${string}`
  readonly pairIndex: number
  readonly leverage: number
  readonly long: boolean
  readonly collateralIndex: number
  readonly tradeType: number
  readonly collateralAmount: bigint
  /** The trigger of a resting order, the expected price of a market order. */
  readonly openPrice: bigint
  /** 0 is none. */
  readonly tp: bigint
  readonly sl: bigint
}

/** Nobody refers anybody here. */
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
