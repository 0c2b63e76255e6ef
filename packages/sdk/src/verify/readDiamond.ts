import { aggregatorAndCallbacksAbi, CollateralPrice, pairsStorageAbi, tradingStorageAbi } from '@bezel/protocol/wire'
import {
  decodeFunctionResult,
  encodeFunctionData,
  parseAbi,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
} from 'viem'
import type { TransactionSender } from '../senders/transactionSender.ts'
import { UnverifiedTransactionError } from '../errors/transactionErrors.ts'
import type { ChainFacts, PendingFacts, TradeFacts } from './verifyContext.ts'

const abi = [
  ...aggregatorAndCallbacksAbi,
  ...pairsStorageAbi,
  ...tradingStorageAbi,
  ...parseAbi(['function symbol() view returns (string)', 'function decimals() view returns (uint8)']),
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

/** Returns a reader over the sender's node; `undefined` when the sender can't read. */
export function readerOf(sender: TransactionSender | undefined): ReadContract | undefined {
  if (sender?.call === undefined) return undefined
  const call = sender.call.bind(sender)
  return async (address, functionName, args) => {
    const data = await call(address, encodeFunctionData({ abi, functionName, args } as never))
    return decodeFunctionResult({ abi, functionName, data } as never) as never
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
