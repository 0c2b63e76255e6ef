import { UnverifiedTransactionError } from '../errors/unverifiedTransactionError.ts'
import { decodeCallData, encodeCallData, type DiamondCall } from './callCodec.ts'

/** Behind the calldata stand the 8 bytes that tell the service which order it is. The contracts never look there. */
const ATTEMPT_ID_CHARS = 16
const SELECTOR_CHARS = 10
const HEX_PATTERN = /^0x(?:[0-9a-f]{2})*$/

/**
 * The calls that a transaction's input makes of the Diamond on behalf of the trader: wrapped for a delegate, bare for the trader itself,
 * and several as one `multicall`. Every byte is accounted for: what was decoded is encoded again and must be the same bytes.
 */
export function decodeCalls(
  data: string,
  { trader, sender }: { readonly trader: string; readonly sender: string },
): readonly DiamondCall[] {
  const input = data.toLowerCase()
  if (!HEX_PATTERN.test(input) || input.length < SELECTOR_CHARS + ATTEMPT_ID_CHARS) {
    throw new UnverifiedTransactionError('data', 'calldata and 8 bytes behind it', shorten(data))
  }
  const sent = decodeCall(input.slice(0, -ATTEMPT_ID_CHARS), 'data')
  const inner = isSame(trader, sender) ? sent : unwrap(sent, trader)
  if (inner.functionName !== 'multicall') return [inner]
  const legs = inner.args[0]
  if (legs.length < 2) throw new UnverifiedTransactionError('multicall', 'two or more calls', `${legs.length}`)
  return legs.map((leg, place) => decodeCall(leg, `calls[${place}]`))
}

/** The trader's own call inside of `delegatedTradingAction`, which must act for exactly this trader. */
function unwrap(sent: DiamondCall, trader: string): DiamondCall {
  if (sent.functionName !== 'delegatedTradingAction') {
    throw new UnverifiedTransactionError('call', 'delegatedTradingAction', sent.functionName)
  }
  const [actsFor, inner] = sent.args
  if (!isSame(actsFor, trader)) throw new UnverifiedTransactionError('trader', trader, actsFor)
  return decodeCall(inner, 'inner call')
}

function decodeCall(input: string, field: string): DiamondCall {
  let call: DiamondCall
  let again: string
  try {
    call = decodeCallData(input)
    again = encodeCallData(call.functionName, call.args ?? [])
  } catch {
    throw new UnverifiedTransactionError(field, 'a call of the Diamond', shorten(input))
  }
  // Dirty padding, odd offsets and bytes behind the arguments decode to the same values, and not to the same bytes.
  if (again !== input)
    throw new UnverifiedTransactionError(field, 'its plain encoding and nothing else', shorten(input))
  return call
}

/** Whether two addresses are one account. */
export function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

function shorten(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 38)}… (${text.length} characters)`
}
