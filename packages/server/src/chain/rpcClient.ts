import { AnswerTooLongError, boundedText } from '../ground/boundedText.ts'
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
   * Sends all calls, up to `CALLS_PER_BATCH` of them in one round trip, and returns the outcomes in the order of the
   * calls. Throws `NodeUnavailableError` when the node does not answer properly.
   */
  batch(calls: readonly RpcCall[]): Promise<RpcOutcome[]>
  /** Number of round trips so far; a metric, and the measure by which tests bound the write path. */
  roundTrips(): number
}

interface RpcClientOptions {
  readonly url: string
  /** Time limit of a round trip, to which each call adds `CALL_MS`. */
  readonly timeoutMs: number
  /**
   * Id of the chain that the node must be on. Checked with every batch, because a URL can lead to another node at any
   * moment, and that node's answers would otherwise look valid. Left out: no check.
   */
  readonly chainId?: number
  /** The most bytes of one answer; a longer one is cut off. Default 64 MiB, far above every answer of a live node. */
  readonly maxAnswerBytes?: number
}

/**
 * Time that a node may take for each call of a batch. With one limit for all batches a node that is too slow for the
 * large ones, such as those of the listing, would be asked for them again and again, and a start would never end.
 */
const CALL_MS = 100

const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/** Maximum number of calls in one round trip, beside the check of the chain: providers refuse more than 100. */
export const CALLS_PER_BATCH = 99

export const chainIdCall: RpcCall = { method: 'eth_chainId', params: [] }

export function createRpcClient({ url, timeoutMs, chainId, maxAnswerBytes }: RpcClientOptions): RpcClient {
  let roundTrips = 0

  async function post(body: string, callCount: number): Promise<string> {
    roundTrips += 1
    try {
      const headers = { 'content-type': 'application/json' }
      const signal = AbortSignal.timeout(timeoutMs + callCount * CALL_MS)
      const answer = await fetch(url, { method: 'POST', headers, body, signal })
      return await boundedText(answer, maxAnswerBytes ?? MAX_ANSWER_BYTES)
    } catch (error) {
      const isTooLong = error instanceof AnswerTooLongError
      throw new NodeUnavailableError(isTooLong ? `the node was cut off: ${error.message}` : 'the node did not answer', {
        cause: error,
      })
    }
  }

  async function send(calls: readonly RpcCall[]): Promise<RpcOutcome[]> {
    const asked = chainId === undefined ? calls : [...calls, chainIdCall]
    const body = JSON.stringify(asked.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params })))
    const outcomes = parseRpcAnswer(await post(body, asked.length), asked.length)
    if (chainId !== undefined) requireChain(outcomes.pop(), chainId)
    return outcomes
  }

  return {
    roundTrips: () => roundTrips,
    async batch(calls) {
      const outcomes: RpcOutcome[] = []
      for (let from = 0; from < calls.length; from += CALLS_PER_BATCH) {
        outcomes.push(...(await send(calls.slice(from, from + CALLS_PER_BATCH))))
      }
      return outcomes
    },
  }
}

function requireChain(outcome: RpcOutcome | undefined, chainId: number): void {
  if (outcome?.ok === true && outcome.result === `0x${chainId.toString(16)}`) return
  throw new NodeUnavailableError('the node is on another chain, or does not say on which')
}

/**
 * Parses a batch answer into outcomes in the order of the calls, whose ids are 0 to count - 1. Nodes may answer in any
 * order, but every call needs an answer. Throws `NodeUnavailableError` when one is missing or the whole batch failed.
 */
export function parseRpcAnswer(text: string, count: number): RpcOutcome[] {
  const outcomes = new Map(parseEntries(text).map((entry) => [entry.id, toOutcome(entry)]))
  return Array.from({ length: count }, (_, id) => {
    const outcome = outcomes.get(id)
    if (outcome === undefined) throw new NodeUnavailableError('the node left a call of the batch unanswered')
    return outcome
  })
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
