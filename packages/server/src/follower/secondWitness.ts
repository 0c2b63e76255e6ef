import type { Hex } from '@bezel/protocol'
import { logsOfReceipt, parseLogs, receiptCall, type RpcLog } from '../chain/blocks.ts'
import type { FollowerClient } from '../chain/providers/followerClient.ts'
import type { RpcCall, RpcClient, RpcOutcome } from '../chain/rpcClient.ts'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import { hasParts, isTooLong, PART_BLOCKS, partCalls, type LogRange, type LogSpan } from './logParts.ts'

/** The client of a follower, which may know a second provider. */
export type WitnessedClient = RpcClient & Partial<Pick<FollowerClient, 'second' | 'leftOutLogs'>>

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

/**
 * The number of transactions that a second provider told, and whose receipts are asked for at once. Where none of them
 * has a log that was left out, no more are: it tells of what is not on the chain.
 */
const MAX_DOUBTED = 32

/**
 * Asks a second provider for logs. A provider whose index of logs has a hole gives the logs that it has as if they were
 * all, and nothing in its answer shows it.
 */
export async function askSecond(
  client: WitnessedClient,
  { diamond }: Pick<ServedChain, 'diamond'>,
  ...calls: readonly RpcCall[]
): Promise<SecondAnswer> {
  if (client.second === undefined) return { ...NO_SECOND, isHeard: true }
  const outcomes = (await client.second(calls)) ?? []
  const told = outcomes.map((outcome) => logsOf(outcome, (json) => parseLogs(json, diamond)))
  return {
    logs: told.flatMap((logs) => logs ?? []),
    isRefused: outcomes.some(({ ok }) => !ok),
    isHeard: told.length > 0 && !told.includes(undefined),
  }
}

/** Asks a second provider for the logs of a span, in parts where its plan gives those of few blocks at once. */
export function askSecondParts(
  client: WitnessedClient,
  chain: Pick<ServedChain, 'diamond'>,
  span: LogSpan,
  range: Pick<LogRange, 'current'>,
): Promise<SecondAnswer> {
  const blocks = isTooLong(span) ? Infinity : range.current()
  return askSecond(client, chain, ...partCalls(chain.diamond, span, blocks))
}

/** The answers that `withLeftOut` compares, and the blocks that they are about. */
interface BothAnswers {
  readonly own: readonly RpcLog[]
  readonly second: SecondAnswer
  readonly span: LogSpan
  /** The range of the second provider, which learns from its refusal. Left out: nothing is learnt. */
  readonly range?: LogRange
}

/**
 * Returns the logs of the followed provider together with those that it left out: a second one told of them, and their
 * receipts, which the followed one gives itself, have them too. So nobody can bring in a log that never was, and nobody
 * mixes two branches. `isHeard` is false when the second one said nothing, or its word could not be compared with the
 * receipts. Throws `NodeUnavailableError`.
 */
export async function withLeftOut(
  client: WitnessedClient,
  chain: Pick<ServedChain, 'diamond'>,
  { own, second, span, range }: BothAnswers,
): Promise<{ readonly logs: readonly RpcLog[]; readonly isHeard: boolean }> {
  const known = new Set(own.map(placeOf))
  const isLeftOut = (log: RpcLog): boolean =>
    log.blockNumber >= span.from && log.blockNumber <= span.to && !known.has(placeOf(log))
  const isInParts = second.isRefused && hasParts(span) && (range?.current() ?? Infinity) > PART_BLOCKS
  if (isInParts) range?.refused(Math.min(range.current(), span.to - span.from + 1))
  const told = isInParts ? await askSecond(client, chain, ...partCalls(chain.diamond, span)) : second
  const doubted = [...new Set(told.logs.filter(isLeftOut).map(({ txHash }) => txHash))]
  const { leftOut, isCompared } = await readLeftOut(client, chain, { doubted, isLeftOut })
  const isHeard = told.isHeard && isCompared
  if (leftOut.length === 0) return { logs: own, isHeard }
  client.leftOutLogs?.()
  const logs = [...own, ...leftOut].toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
  return { logs, isHeard }
}

/**
 * Reads logs that were left out from the receipts of the followed provider. A receipt that it refuses proves nothing,
 * and must not stop the chain: some nodes answer with an error for every transaction that they do not know.
 */
async function readLeftOut(
  client: RpcClient,
  { diamond }: Pick<ServedChain, 'diamond'>,
  { doubted, isLeftOut }: { readonly doubted: readonly Hex[]; readonly isLeftOut: (log: RpcLog) => boolean },
): Promise<{ readonly leftOut: readonly RpcLog[]; readonly isCompared: boolean }> {
  const leftOut: RpcLog[] = []
  let isCompared = true
  for (let at = 0; at < doubted.length; at += MAX_DOUBTED) {
    const receipts = await client.batch(doubted.slice(at, at + MAX_DOUBTED).map(receiptCall))
    const read = receipts.map((outcome) => logsOf(outcome, (json) => logsOfReceipt(json, diamond)))
    const found = read.flatMap((logs) => logs ?? []).filter(isLeftOut)
    leftOut.push(...found)
    if (found.length === 0 && at + MAX_DOUBTED < doubted.length) return { leftOut, isCompared: false }
    isCompared &&= !read.includes(undefined)
  }
  return { leftOut, isCompared }
}

/** Names the place of a log. Two branches have different ones. */
function placeOf({ blockHash, logIndex }: RpcLog): string {
  return `${blockHash} ${logIndex}`
}

/** Returns the logs of an answer; `undefined` when it is a refusal or garbage, which says nothing about the chain. */
function logsOf(outcome: RpcOutcome, parse: (json: unknown) => RpcLog[]): readonly RpcLog[] | undefined {
  if (!outcome.ok) return undefined
  try {
    return parse(outcome.result)
  } catch (error) {
    if (error instanceof NodeUnavailableError) return undefined
    throw error
  }
}
