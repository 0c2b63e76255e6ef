import { parseHex, type Hex } from '@bezel/protocol'
import type { RpcOutcome } from './rpcOutcome.ts'

/** The revert bytes of a failed call, wherever this node puts them: `error.data` or `error.data.data`; `undefined` if nowhere. */
export function revertData(outcome: RpcOutcome): Hex | undefined {
  if (outcome.ok) return undefined
  const { data } = outcome
  const nested = typeof data === 'object' && data !== null ? (data as { data?: unknown }).data : data
  // Some nodes write a word before it, as in "Reverted 0x08c379a0...".
  const text = typeof nested === 'string' ? /0x[0-9a-fA-F]*$/.exec(nested)?.[0] : undefined
  return text === undefined ? undefined : parseHex(text)
}
