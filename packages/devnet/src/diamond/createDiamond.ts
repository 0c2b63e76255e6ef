import { diamondAbi } from '@bezel/protocol'
import {
  decodeFunctionResult,
  encodeFunctionData,
  type Address,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  type Hex,
} from 'viem'
import type { MinedBlock } from '../chain/block.ts'
import type { LocalChain } from '../chain/createLocalChain.ts'

type Abi = typeof diamondAbi
type ViewName = ContractFunctionName<Abi, 'view' | 'pure'>

/** A reader of a chain's Diamond. */
export interface Diamond {
  readonly address: Address
  /** Calls a view function at the latest block. */
  read<N extends ViewName>(
    functionName: N,
    args: ContractFunctionArgs<Abi, 'view' | 'pure', N>,
  ): Promise<ContractFunctionReturnType<Abi, 'view' | 'pure', N>>
  /** Returns true when a block, or the removal of earlier ones, can have changed anything the Diamond stores. */
  isTouchedBy(block: MinedBlock): boolean
}

/** Creates a reader of the Diamond at an address. */
export function createDiamond(chain: LocalChain, address: Address): Diamond {
  const lowerCase = address.toLowerCase()
  return {
    address,
    async read(functionName, args) {
      const data = encodeFunctionData({ abi: diamondAbi, functionName, args } as never)
      const result = await chain.request<Hex>('eth_call', [{ to: address, data }, 'latest'])
      return decodeFunctionResult({ abi: diamondAbi, functionName, data: result } as never) as never
    },
    isTouchedBy: ({ logs, removedLogs }) => [...logs, ...removedLogs].some((log) => log.address === lowerCase),
  }
}
