import { aggregatorAndCallbacksAbi, pairsStorageAbi, tradingStorageAbi } from '@bezel/protocol/wire'
import {
  decodeFunctionResult,
  encodeFunctionData,
  parseAbi,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
} from 'viem'
import type { TransactionSender } from '../senders/transactionSender.ts'

const abi = [
  ...aggregatorAndCallbacksAbi,
  ...pairsStorageAbi,
  ...tradingStorageAbi,
  ...parseAbi(['function symbol() view returns (string)', 'function decimals() view returns (uint8)']),
] as const
type Abi = typeof abi
type ViewName = ContractFunctionName<Abi, 'view'>

/** Reads a contract through a node of the caller's. */
export type ReadContract = <Name extends ViewName>(
  address: `0x${string}`,
  functionName: Name,
  args: ContractFunctionArgs<Abi, 'view', Name>,
) => Promise<ContractFunctionReturnType<Abi, 'view', Name>>

/** `undefined` when the sender can't read. */
export function readerOf(sender: TransactionSender | undefined): ReadContract | undefined {
  if (sender?.call === undefined) return undefined
  const call = sender.call.bind(sender)
  return async (address, functionName, args) => {
    const data = await call(address, encodeFunctionData({ abi, functionName, args } as never))
    return decodeFunctionResult({ abi, functionName, data } as never) as never
  }
}
