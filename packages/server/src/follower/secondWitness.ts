import type { Address } from '@bezel/protocol'
import { logsCall, logsOfReceipt, parseLogs, receiptCall, resultOf, type RpcLog } from '../chain/blocks.ts'
import type { FollowerClient } from '../chain/providers/followerClient.ts'
import type { RpcCall, RpcClient, RpcOutcome } from '../chain/rpcClient.ts'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { ServedChain } from '../chain/servedChain.ts'

/** The client of a follower, which may know a second provider. */
export type WitnessedClient = RpcClient & Partial<Pick<FollowerClient, 'second' | 'leftOutLogs'>>

/** Blocks, both included, of which logs were asked for. */
interface LogSpan {
  readonly from: number
  readonly to: number
}

/** The answer of a second provider to a question for logs. */
export interface SecondAnswer {
  /** The logs that it told; none when it did not answer, or not with logs, which says nothing about the chain. */
  readonly logs: readonly RpcLog[]
  /** True when it refused the question, as one for more blocks than its plan allows. */
  readonly isRefused: boolean
  /** True when it told all logs that it has, or there is no second one. */
  readonly isHeard: boolean
}

/** The answer of one that says nothing. */
export const NO_SECOND: SecondAnswer = { logs: [], isRefused: false, isHeard: false }

/** Number of blocks of one question that every plan allows. */
const PART_BLOCKS = 10

/** The most parts of a range. A longer one, which only a service that was away reads, is not asked for in parts. */
const MAX_PARTS = 13

/**
 * Asks a second provider for logs. A provider whose index of logs has a hole gives the logs that it has as if they were
 * all, and nothing in its answer shows it.
 */
export async function askSecond(client: WitnessedClient, ...calls: readonly RpcCall[]): Promise<SecondAnswer> {
  if (client.second === undefined) return { ...NO_SECOND, isHeard: true }
  const outcomes = (await client.second(calls)) ?? []
  const told = outcomes.map(logsOf)
  return {
    logs: told.flatMap((logs) => logs ?? []),
    isRefused: outcomes.some(({ ok }) => !ok),
    isHeard: told.length > 0 && !told.includes(undefined),
  }
}

/** Asks a second provider that refused a range for its parts. */
async function askInParts(client: WitnessedClient, diamond: Address, { from, to }: LogSpan): Promise<SecondAnswer> {
  const parts = Math.ceil((to - from + 1) / PART_BLOCKS)
  if (parts < 2 || parts > MAX_PARTS) return NO_SECOND
  const starts = Array.from({ length: parts }, (_, at) => from + at * PART_BLOCKS)
  const calls = starts.map((start) => logsCall(diamond, start, Math.min(to, start + PART_BLOCKS - 1)))
  return askSecond(client, ...calls)
}

/**
 * Returns the logs of the followed provider together with those that it left out: a second one told of them, and their
 * receipts, which the followed one gives itself, have them too. So nobody can bring in a log that never was, and nobody
 * mixes two branches. `isHeard` is false when the second one said nothing. Throws `NodeUnavailableError`.
 */
export async function withLeftOut(
  client: WitnessedClient,
  { diamond }: Pick<ServedChain, 'diamond'>,
  { own, second, span }: { readonly own: readonly RpcLog[]; readonly second: SecondAnswer; readonly span: LogSpan },
): Promise<{ readonly logs: readonly RpcLog[]; readonly isHeard: boolean }> {
  const isInside = ({ blockNumber }: RpcLog): boolean => blockNumber >= span.from && blockNumber <= span.to
  const known = new Set(own.map(placeOf))
  const told = second.isRefused ? await askInParts(client, diamond, span) : second
  const doubted = new Set(
    told.logs.filter((log) => isInside(log) && !known.has(placeOf(log))).map(({ txHash }) => txHash),
  )
  const { isHeard } = told
  if (doubted.size === 0) return { logs: own, isHeard }
  const receipts = await client.batch([...doubted].map(receiptCall))
  const leftOut = receipts
    .flatMap((outcome) => logsOfReceipt(resultOf(outcome), diamond))
    .filter((log) => isInside(log) && !known.has(placeOf(log)))
  if (leftOut.length === 0) return { logs: own, isHeard }
  client.leftOutLogs?.()
  const logs = [...own, ...leftOut].toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
  return { logs, isHeard }
}

/** Names the place of a log. Two branches have different ones. */
function placeOf({ blockHash, logIndex }: RpcLog): string {
  return `${blockHash} ${logIndex}`
}

/** Returns the logs of an answer; `undefined` when it is a refusal or garbage, which says nothing about the chain. */
function logsOf(outcome: RpcOutcome): readonly RpcLog[] | undefined {
  if (!outcome.ok) return undefined
  try {
    return parseLogs(outcome.result)
  } catch (error) {
    if (error instanceof NodeUnavailableError) return undefined
    throw error
  }
}
