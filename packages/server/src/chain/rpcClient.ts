import { NodeUnavailableError } from '../ground/unavailable.ts'
import { parseHex, type Hex } from '@bezel/protocol'

/** One JSON-RPC call. */
export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

/**
 * A node's answer to one call. A revert is an error that carries the revert bytes where the node puts them, see
 * `revertData`.
 */
export type RpcOutcome =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly code: number; readonly message: string; readonly data: unknown }

/** Client of a chain's node that sends calls in batches. */
export interface RpcClient {
  /**
   * Sends all calls to one node, in as few round trips as it takes, and returns the outcomes in the order of the
   * calls. Throws `NodeUnavailableError` when the node does not answer properly.
   */
  batch(calls: readonly RpcCall[]): Promise<RpcOutcome[]>
  /** Number of round trips so far; a metric, and the measure by which tests bound the write path. */
  roundTrips(): number
}

/**
 * Number of calls of which callers make a batch when they have many. Together with the check of the chain these are
 * 100, which most providers take; a provider that takes fewer gets them in parts.
 */
export const CALLS_PER_BATCH = 99

export const chainIdCall: RpcCall = { method: 'eth_chainId', params: [] }

/**
 * Parses a batch answer into outcomes in the order of the calls, whose ids are 0 to count - 1, with `undefined` for
 * calls that were left out. Nodes may answer in any order. Throws `NodeUnavailableError` when the whole batch failed or
 * a call was answered twice.
 */
export function parseRpcAnswer(text: string, count: number): (RpcOutcome | undefined)[] {
  const outcomes = new Map<unknown, RpcOutcome | undefined>()
  for (const entry of parseEntries(text)) {
    if (outcomes.has(entry.id)) throw new NodeUnavailableError('the node answered a call of the batch twice')
    outcomes.set(entry.id, toOutcome(entry))
  }
  return Array.from({ length: count }, (_, id) => outcomes.get(id))
}

type Entry = Readonly<Record<string, unknown>>

function parseEntries(text: string): Entry[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new NodeUnavailableError('the node answered with something that is not JSON', { cause: error })
  }
  if (!Array.isArray(value)) throw new NodeUnavailableError(`the node refused the batch: ${text.slice(0, 200)}`)
  return value.filter((entry): entry is Entry => typeof entry === 'object' && entry !== null)
}

function toOutcome(entry: Entry): RpcOutcome | undefined {
  const { error } = entry
  if (typeof error === 'object' && error !== null) {
    const { code, message, data } = error as Entry
    return { ok: false, code: typeof code === 'number' ? code : 0, message: String(message), data }
  }
  return 'result' in entry ? { ok: true, result: entry.result } : undefined
}

/**
 * Returns the revert bytes of a failed call from `error.data` or `error.data.data`; `undefined` when neither has any.
 */
export function revertData(outcome: RpcOutcome): Hex | undefined {
  if (outcome.ok) return undefined
  const { data } = outcome
  const nested = typeof data === 'object' && data !== null ? (data as { data?: unknown }).data : data
  // Some nodes put a word before the bytes, as in "Reverted 0x08c379a0...".
  const text = typeof nested === 'string' ? /0x[0-9a-fA-F]*$/.exec(nested)?.[0] : undefined
  return text === undefined ? undefined : parseHex(text)
}

/**
 * Matches messages that report a failure of the call itself and not of the node, for nodes that leave out the revert
 * bytes.
 */
const REVERT_PATTERN = /revert|out of gas|invalid opcode|invalid jump|stack (?:under|over)flow|vm exception/i
/** JSON-RPC error code for "execution reverted". */
const REVERT_CODE = 3

/** Returns true when the contract refused the call, false when it succeeded or the node could not run it. */
export function isRevert(outcome: RpcOutcome): boolean {
  if (outcome.ok) return false
  return revertData(outcome) !== undefined || outcome.code === REVERT_CODE || REVERT_PATTERN.test(outcome.message)
}
