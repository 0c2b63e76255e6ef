import { diamondAbi } from '@bezel/protocol'
import {
  decodeErrorResult,
  decodeEventLog,
  decodeFunctionResult,
  encodeFunctionData,
  toEventSelector,
  type Abi,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  type Hex,
  type Log,
} from 'viem'
import { loadArtifact } from '../../artifact.ts'
import type { WorldEvent } from '../world.ts'

export type DiamondAbi = typeof diamondAbi
type DiamondEventItem = Extract<DiamondAbi[number], { type: 'event' }>
export type ViewName = ContractFunctionName<DiamondAbi, 'view' | 'pure'>
export type ViewArgs<N extends ViewName> = ContractFunctionArgs<DiamondAbi, 'view' | 'pure', N>
export type ViewResult<N extends ViewName> = ContractFunctionReturnType<DiamondAbi, 'view' | 'pure', N>
export type WriteName = ContractFunctionName<DiamondAbi, 'nonpayable'>
export type WriteArgs<N extends WriteName> = ContractFunctionArgs<DiamondAbi, 'nonpayable', N>

export type Trade = ViewResult<'getTrade'>
export type PendingOrder = ViewResult<'getPendingOrder'>
export type TradeFees = ViewResult<'getTradeFeesData'>

// ABIs with one entry each, by name and topic: searching the whole ABI for each call would take most of a campaign's
// time.
const functions = new Map<string, Abi>()
const events = new Map<Hex, DiamondEventItem>()
for (const item of diamondAbi as Abi) {
  if (item.type === 'function') functions.set(item.name, [item])
}
for (const item of diamondAbi) {
  if (item.type === 'event') events.set(toEventSelector(item), item)
}
const errorAbi: Abi = [...diamondAbi, ...loadArtifact('Token').abi, ...loadArtifact('Vault').abi].filter(
  (item) => item.type === 'error',
)

/** Encodes a call of a state-changing function of the Diamond. */
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
  const result = decodeFunctionResult({ abi: functions.get(name)!, functionName: name, data })
  return result as ViewResult<N>
}

/** Decodes an event of the Diamond. Throws for an unknown one. */
export function decodeEvent(log: Log): WorldEvent {
  const item = events.get(log.topics[0]!)
  if (item === undefined) throw new Error(`the Diamond emitted an unknown event ${log.topics[0]}`)
  const { eventName, args } = decodeEventLog({ abi: [item], data: log.data, topics: log.topics })
  return { ...log, eventName, args } as WorldEvent
}

/** Returns the name of a custom error, or a description of any other. */
export function errorNameOf(data: Hex): string {
  try {
    const { errorName, args } = decodeErrorResult({ abi: errorAbi, data })
    return errorName === 'Panic' ? `Panic(${String(args?.[0])})` : errorName
  } catch {
    return `unknown error ${data.slice(0, 10)}`
  }
}
