import { UnverifiedTransactionError } from '../errors/transactionErrors.ts'
import { tradingInteractionsAbi } from '@bezel/protocol/wire'
import {
  decodeAbiParameters,
  encodeAbiParameters,
  toFunctionSelector,
  type AbiFunction,
  type DecodeFunctionDataReturnType,
} from 'viem'

/** A call of the Diamond by traders, their delegates or bots. */
export type TradingCall = DecodeFunctionDataReturnType<typeof tradingInteractionsAbi>

const SELECTOR_CHARS = 10

/**
 * Length of the order id after the calldata: 8 bytes that tell the service which order it is. The contracts ignore
 * them.
 */
const ATTEMPT_ID_CHARS = 16

const MIN_CALL_CHARS = 10

const HEX_PATTERN = /^0x(?:[0-9a-f]{2})*$/

interface KnownFunction {
  readonly item: AbiFunction
  readonly selector: `0x${string}`
}

/** Selectors are hashed once; a search in the ABI would hash all functions again for each call. */
const functions: readonly KnownFunction[] = tradingInteractionsAbi.map((item) => ({
  item,
  selector: toFunctionSelector(item),
}))

const bySelector = new Map(functions.map((known) => [known.selector as string, known]))

const byName = new Map(functions.map((known) => [known.item.name, known]))

/**
 * Decodes the calls that a transaction makes of the Diamond on behalf of the trader: wrapped for a delegate, bare for
 * the trader itself, and several as one `multicall`. Every byte is accounted for, because the decoded calls are encoded
 * again and must give the same bytes.
 */
export function decodeCalls(
  data: string,
  { trader, sender }: { readonly trader: string; readonly sender: string },
): readonly TradingCall[] {
  const input = data.toLowerCase()
  if (!HEX_PATTERN.test(input) || input.length < MIN_CALL_CHARS + ATTEMPT_ID_CHARS) {
    throw new UnverifiedTransactionError('data', 'calldata and 8 bytes behind it', shorten(data))
  }
  const sent = decodeCall(input.slice(0, -ATTEMPT_ID_CHARS), 'data')
  const inner = isSameAddress(trader, sender) ? sent : unwrap(sent, trader)
  if (inner.functionName !== 'multicall') return [inner]
  const legs = inner.args[0]
  if (legs.length < 2) throw new UnverifiedTransactionError('multicall', 'two or more calls', `${legs.length}`)
  return legs.map((leg, place) => decodeCall(leg, `calls[${place}]`))
}

/** Returns the call inside `delegatedTradingAction`, which must act for exactly this trader. */
function unwrap(sent: TradingCall, trader: string): TradingCall {
  if (sent.functionName !== 'delegatedTradingAction') {
    throw new UnverifiedTransactionError('call', 'delegatedTradingAction', sent.functionName)
  }
  const [actsFor, inner] = sent.args
  if (!isSameAddress(actsFor, trader)) throw new UnverifiedTransactionError('trader', trader, actsFor)
  return decodeCall(inner, 'inner call')
}

function decodeCall(input: string, field: string): TradingCall {
  let call: TradingCall
  let again: string
  try {
    call = decodeCallData(input)
    again = encodeCallData(call.functionName, call.args ?? [])
  } catch {
    throw new UnverifiedTransactionError(field, 'a call of the Diamond', shorten(input))
  }
  // Dirty padding, odd offsets and bytes after the arguments decode to the same values but not to the same bytes.
  if (again !== input)
    throw new UnverifiedTransactionError(field, 'its plain encoding and nothing else', shorten(input))
  return call
}

/** Decodes a call, given in lower case. Throws when the Diamond has no such function. */
export function decodeCallData(data: string): TradingCall {
  const known = bySelector.get(data.slice(0, SELECTOR_CHARS))
  if (known === undefined) throw new RangeError(`no function has the selector ${data.slice(0, SELECTOR_CHARS)}`)
  const { inputs, name } = known.item
  const args = inputs.length === 0 ? [] : decodeAbiParameters(inputs, `0x${data.slice(SELECTOR_CHARS)}`)
  const call: { readonly functionName: string; readonly args?: readonly unknown[] } = { functionName: name, args }
  return call as TradingCall
}

/** Returns the one plain encoding of a call, in lower case. */
export function encodeCallData(functionName: string, args: readonly unknown[]): `0x${string}` {
  const known = byName.get(functionName)
  if (known === undefined) throw new RangeError(`there is no function ${functionName}`)
  return `${known.selector}${encodeAbiParameters(known.item.inputs, args as never).slice(2)}`
}

/** Returns true when two addresses are the same account. */
export function isSameAddress(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

function shorten(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 38)}… (${text.length} characters)`
}

type NameOf = TradingCall['functionName']

type ArgsOf<Name extends NameOf> = Extract<TradingCall, { functionName: Name }>['args']

/** Reads calls in their order. Each one must be asked for by name, and none may be left over. */
export interface CallReader {
  next<Name extends NameOf>(name: Name): ArgsOf<Name>
  isNext(name: NameOf): boolean
  /** Returns the arguments of the next calls as long as they have this name. */
  ahead<Name extends NameOf>(name: Name): readonly ArgsOf<Name>[]
  /** Returns a reader of the same calls from here on, so that one of several readings can be tried. */
  fork(): CallReader
  end(): void
}

export function createCallReader(calls: readonly TradingCall[], first = 0): CallReader {
  let place = first
  return {
    fork: () => createCallReader(calls, place),
    next<Name extends NameOf>(name: Name): ArgsOf<Name> {
      const call = calls[place]
      if (call?.functionName !== name) {
        throw new UnverifiedTransactionError(`call ${place + 1}`, name, call?.functionName ?? 'missing')
      }
      place += 1
      return call.args as ArgsOf<Name>
    },
    isNext: (name) => calls[place]?.functionName === name,
    ahead<Name extends NameOf>(name: Name): readonly ArgsOf<Name>[] {
      const others = calls.findIndex(({ functionName }, at) => at >= place && functionName !== name)
      return calls.slice(place, others === -1 ? undefined : others).map(({ args }) => args as ArgsOf<Name>)
    },
    end() {
      const call = calls[place]
      if (call !== undefined)
        throw new UnverifiedTransactionError(`call ${place + 1}`, 'no further call', call.functionName)
    },
  }
}
