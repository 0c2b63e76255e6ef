import { diamondAbi } from '@bezel/protocol'
import {
  decodeErrorResult,
  decodeEventLog,
  decodeFunctionResult,
  encodeFunctionData,
  toEventSelector,
  type Abi,
  type AbiEvent,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  type Hex,
  type Log,
} from 'viem'
import { loadArtifact } from '../../artifact.ts'
import type { WorldEvent } from '../world.ts'

export type DiamondAbi = typeof diamondAbi
export type ViewName = ContractFunctionName<DiamondAbi, 'view' | 'pure'>
export type ViewArgs<N extends ViewName> = ContractFunctionArgs<DiamondAbi, 'view' | 'pure', N>
export type ViewResult<N extends ViewName> = ContractFunctionReturnType<DiamondAbi, 'view' | 'pure', N>
export type WriteName = ContractFunctionName<DiamondAbi, 'nonpayable'>
export type WriteArgs<N extends WriteName> = ContractFunctionArgs<DiamondAbi, 'nonpayable', N>

export type Trade = ViewResult<'getTrade'>
export type PendingOrder = ViewResult<'getPendingOrder'>
export type TradeFees = ViewResult<'getTradeFeesData'>

// One-entry ABIs by name and topic: looking each one up in the whole ABI would take most of a campaign's time.
const functions = new Map<string, Abi>()
const events = new Map<Hex, AbiEvent>()
for (const item of diamondAbi as Abi) {
  if (item.type === 'function') functions.set(item.name, [item])
  if (item.type === 'event') events.set(toEventSelector(item), item)
}
const errorAbi: Abi = [...diamondAbi, ...loadArtifact('Token').abi, ...loadArtifact('Vault').abi].filter(
  (item) => item.type === 'error',
)

/** Calldata of a state-changing function of the Diamond. */
export function encodeWrite<N extends WriteName>(functionName: N, args: WriteArgs<N>): Hex {
  return encode(functionName, args as readonly unknown[])
}

export function encodeView<N extends ViewName>(functionName: N, args: ViewArgs<N>): Hex {
  return encode(functionName, args as readonly unknown[])
}

function encode(functionName: string, args: readonly unknown[]): Hex {
  return encodeFunctionData({ abi: functions.get(functionName)!, functionName, args })
}

export function decodeView<N extends ViewName>(functionName: N, data: Hex): ViewResult<N> {
  const name: string = functionName
  const result: unknown = decodeFunctionResult({ abi: functions.get(name)!, functionName: name, data })
  return result as ViewResult<N>
}

/** An event of the Diamond; throws for one it does not have. */
export function decodeEvent(log: Log): WorldEvent {
  const item = events.get(log.topics[0]!)
  if (item === undefined) throw new Error(`the Diamond emitted an unknown event ${log.topics[0]}`)
  const { eventName, args } = decodeEventLog({ abi: [item], data: log.data, topics: log.topics })
  return { ...log, eventName, args } as unknown as WorldEvent
}

/** The custom error's name, or what else there is to say about it. */
export function errorNameOf(data: Hex): string {
  try {
    const { errorName, args } = decodeErrorResult({ abi: errorAbi, data })
    return errorName === 'Panic' ? `Panic(${String(args?.[0])})` : errorName
  } catch {
    return `unknown error ${data.slice(0, 10)}`
  }
}
