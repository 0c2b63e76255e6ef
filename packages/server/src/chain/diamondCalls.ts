import { createBreaks } from '../ground/breaks.ts'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import { diamondAbi, type Address } from '@bezel/protocol'
import {
  encodeFunctionData,
  type AbiFunction,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  type Hex,
} from 'viem'
import { outputsReader, type AbiReader } from './abiReader.ts'
import { CALLS_PER_BATCH, type RpcCall, type RpcClient, type RpcOutcome } from './rpcClient.ts'

type Abi = typeof diamondAbi
type ViewName = ContractFunctionName<Abi, 'view' | 'pure'>

/** A call of a view function of the Diamond, and the decoder of its result. */
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
        return outputsOf(functionName).read(outcome.result as Hex, 2) as never
      } catch (error) {
        throw new NodeUnavailableError(`${functionName} gave something that can't be read`, { cause: error })
      }
    },
  }
}

const OUTPUTS = new Map<ViewName, AbiReader>()

/** Returns the reader of what a view returns. */
function outputsOf(name: ViewName): AbiReader {
  const known = OUTPUTS.get(name)
  if (known !== undefined) return known
  const view = diamondAbi.find(
    (item): item is AbiFunction & typeof item => item.type === 'function' && item.name === name,
  )
  const made = outputsReader(view!.outputs)
  OUTPUTS.set(name, made)
  return made
}

/** Reads many views in batches of `CALLS_PER_BATCH`, one round trip each, and decodes them with breaks. */
export async function readAll<Result>(client: RpcClient, calls: readonly DiamondCall<Result>[]): Promise<Result[]> {
  const results: Result[] = []
  const takeBreak = createBreaks()
  for (let from = 0; from < calls.length; from += CALLS_PER_BATCH) {
    const part = calls.slice(from, from + CALLS_PER_BATCH)
    const outcomes = await client.batch(part.map(({ call }) => call))
    for (const [i, { decode }] of part.entries()) {
      await takeBreak()
      results.push(decode(outcomes[i]!))
    }
  }
  return results
}

/** Returns the result of a call. Throws before the round has run. */
export type Later<Result> = () => Result

/** Collects calls of different kinds at one block, then reads them all in batches. */
export interface CallRound {
  view<N extends ViewName>(
    functionName: N,
    args: ContractFunctionArgs<Abi, 'view' | 'pure', N>,
  ): Later<ContractFunctionReturnType<Abi, 'view' | 'pure', N>>
  /** Adds a prepared call, for example one to another contract. */
  add<Result>(call: DiamondCall<Result>): Later<Result>
  /** Sends all collected calls; called once. Throws `NodeUnavailableError` when one of them fails. */
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
