import { NodeUnavailableError } from '../ground/unavailable.ts'
import { diamondAbi, type Address } from '@bezel/protocol'
import {
  decodeFunctionResult,
  encodeFunctionData,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  type Hex,
} from 'viem'
import type { RpcCall, RpcClient } from './rpcClient.ts'
import { type RpcOutcome } from './rpcOutcome.ts'

type Abi = typeof diamondAbi
export type ViewName = ContractFunctionName<Abi, 'view' | 'pure'>

/** A view of the Diamond as one call of a batch, and how to read what comes back. */
export interface DiamondCall<Result> {
  readonly call: RpcCall
  readonly decode: (outcome: RpcOutcome) => Result
}

export function diamondCall<N extends ViewName>(
  diamond: Address,
  functionName: N,
  args: ContractFunctionArgs<Abi, 'view' | 'pure', N>,
  block: Hex | 'latest' = 'latest',
): DiamondCall<ContractFunctionReturnType<Abi, 'view' | 'pure', N>> {
  const data = encodeFunctionData({ abi: diamondAbi, functionName, args } as never)
  return {
    call: { method: 'eth_call', params: [{ to: diamond, data }, block] },
    decode(outcome) {
      if (!outcome.ok) throw new NodeUnavailableError(`${functionName} failed: ${outcome.message}`)
      try {
        return decodeFunctionResult({ abi: diamondAbi, functionName, data: outcome.result } as never) as never
      } catch (error) {
        throw new NodeUnavailableError(`${functionName} gave something that can't be read`, { cause: error })
      }
    },
  }
}

/** More in one request than public nodes take. */
const CALLS_PER_BATCH = 200

/** Reads many views, in as few round trips as nodes allow. */
export async function readAll<Result>(client: RpcClient, calls: readonly DiamondCall<Result>[]): Promise<Result[]> {
  const results: Result[] = []
  for (let from = 0; from < calls.length; from += CALLS_PER_BATCH) {
    const part = calls.slice(from, from + CALLS_PER_BATCH)
    const outcomes = await client.batch(part.map(({ call }) => call))
    results.push(...part.map(({ decode }, i) => decode(outcomes[i]!)))
  }
  return results
}
