import { tradingInteractionsAbi } from '@bezel/protocol/wire'
import {
  decodeAbiParameters,
  encodeAbiParameters,
  toFunctionSelector,
  type AbiFunction,
  type DecodeFunctionDataReturnType,
} from 'viem'

/** A call that traders, their delegates and bots make of the Diamond. */
export type DiamondCall = DecodeFunctionDataReturnType<typeof tradingInteractionsAbi>

interface KnownFunction {
  readonly item: AbiFunction
  readonly selector: `0x${string}`
}

const SELECTOR_CHARS = 10

/** Hashed once: a search over the interface would hash every function of it for each call. */
const functions: readonly KnownFunction[] = tradingInteractionsAbi.map((item) => ({
  item,
  selector: toFunctionSelector(item),
}))
const bySelector = new Map(functions.map((known) => [known.selector as string, known]))
const byName = new Map(functions.map((known) => [known.item.name, known]))

/** Throws when it is no call of the Diamond. `data` is in lower case. */
export function decodeCallData(data: string): DiamondCall {
  const known = bySelector.get(data.slice(0, SELECTOR_CHARS))
  if (known === undefined) throw new RangeError(`no function has the selector ${data.slice(0, SELECTOR_CHARS)}`)
  const { inputs, name } = known.item
  const args = inputs.length === 0 ? [] : decodeAbiParameters(inputs, `0x${data.slice(SELECTOR_CHARS)}`)
  return { functionName: name, args } as unknown as DiamondCall
}

/** The one plain encoding of a call, in lower case. */
export function encodeCallData(functionName: string, args: readonly unknown[]): `0x${string}` {
  const known = byName.get(functionName)
  if (known === undefined) throw new RangeError(`there is no function ${functionName}`)
  return `${known.selector}${encodeAbiParameters(known.item.inputs, args as never).slice(2)}`
}
