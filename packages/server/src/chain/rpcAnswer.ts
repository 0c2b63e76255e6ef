import { NodeUnavailableError } from '../ground/unavailable.ts'
import { type RpcOutcome } from './rpcOutcome.ts'

/**
 * A batch answer to outcomes in the order of the calls, ids 0 to count - 1. Nodes may answer in any order, but every call must have
 * one answer: a node that leaves one out, or answers with an error for the whole batch, did not answer.
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
