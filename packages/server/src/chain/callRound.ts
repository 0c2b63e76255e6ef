import type { Address, diamondAbi } from '@bezel/protocol'
import type { ContractFunctionArgs, ContractFunctionReturnType, Hex } from 'viem'
import { diamondCall, readAll, type DiamondCall, type ViewName } from './diamondCalls.ts'
import type { RpcClient } from './rpcClient.ts'

type Abi = typeof diamondAbi

/** Gives a call's result once the round has run. */
export type Later<Result> = () => Result

/** Many calls of different kinds at one block, collected first and then read in as few round trips as nodes allow. */
export interface CallRound {
  view<N extends ViewName>(
    functionName: N,
    args: ContractFunctionArgs<Abi, 'view' | 'pure', N>,
  ): Later<ContractFunctionReturnType<Abi, 'view' | 'pure', N>>
  /** A call of another contract. */
  add<Result>(call: DiamondCall<Result>): Later<Result>
  /** Throws `NodeUnavailableError` when one of them fails. Called once. */
  run(): Promise<void>
}

export function createCallRound(client: RpcClient, diamond: Address, block: Hex): CallRound {
  const calls: DiamondCall<unknown>[] = []
  let results: readonly unknown[] | undefined

  function add<Result>(call: DiamondCall<Result>): Later<Result> {
    const at = calls.push(call) - 1
    return () => {
      if (results === undefined) throw new Error('a result was asked for before the round has run')
      return results[at] as Result
    }
  }

  return {
    add,
    view: (functionName, args) => add(diamondCall(diamond, functionName, args, block)),
    async run() {
      results = await readAll(client, calls)
    },
  }
}
