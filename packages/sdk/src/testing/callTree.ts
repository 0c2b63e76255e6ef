import { tradingInteractionsAbi } from '@bezel/protocol/wire'
import { toFunctionSelector } from 'viem'
import { decodeCallData, encodeCallData } from '../verify/decodeCalls.ts'

/** A call of the Diamond whose arguments can be changed. */
export interface CallNode {
  readonly name: string
  readonly args: readonly unknown[]
}

/**
 * The input of a transaction, taken apart: the account acted for (`null` without a wrapper), the calls, and the bytes
 * after them.
 */
export interface InputTree {
  readonly actsFor: `0x${string}` | null
  readonly calls: readonly CallNode[]
  readonly tail: string
}

const TAIL_CHARS = 16

export function readInput(data: string): InputTree {
  const sent = decode(`0x${data.slice(2, -TAIL_CHARS)}`)
  const isWrapped = sent.name === 'delegatedTradingAction'
  const inner = isWrapped ? decode(sent.args[1] as `0x${string}`) : sent
  const calls = inner.name === 'multicall' ? (inner.args[0] as `0x${string}`[]).map(decode) : [inner]
  return { actsFor: isWrapped ? (sent.args[0] as `0x${string}`) : null, calls, tail: data.slice(-TAIL_CHARS) }
}

/** Encodes an input as the service does: several calls become one `multicall`. */
export function writeInput({ actsFor, calls, tail }: InputTree): `0x${string}` {
  const inner = calls.length === 1 ? encode(calls[0]!) : encode({ name: 'multicall', args: [calls.map(encode)] })
  const outer = actsFor === null ? inner : encode({ name: 'delegatedTradingAction', args: [actsFor, inner] })
  return `${outer}${tail}`
}

export function encode({ name, args }: CallNode): `0x${string}` {
  return encodeCallData(name, args)
}

function decode(data: `0x${string}`): CallNode {
  const { functionName, args = [] } = decodeCallData(data)
  return { name: functionName, args: args as readonly unknown[] }
}

/** Returns the Solidity types of a call's arguments; a struct has its members. */
export function typesOf(name: string): readonly AbiInput[] {
  const found = tradingInteractionsAbi.find((item) => item.type === 'function' && item.name === name)
  return (found as { inputs: readonly AbiInput[] }).inputs
}

export interface AbiInput {
  readonly name?: string
  readonly type: string
  readonly components?: readonly AbiInput[]
}

/** Selectors of everything that a trader or delegate can send. */
export const SELECTORS: readonly string[] = tradingInteractionsAbi
  .filter((item) => item.type === 'function')
  .map((item) => toFunctionSelector(item))
