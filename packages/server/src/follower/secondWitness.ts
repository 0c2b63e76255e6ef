import { logsOfReceipt, parseLogs, receiptCall, resultOf, type RpcLog } from '../chain/blocks.ts'
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

/** The answer of a second provider to a question for logs; no logs when it has none to give. */
export type SecondAnswer = Promise<readonly RpcLog[]>

/**
 * Asks a second provider for logs. A provider whose index of logs has a hole gives the logs that it has as if they were
 * all, and nothing in its answer shows it.
 */
export async function askSecond(client: WitnessedClient, call: RpcCall): SecondAnswer {
  const [outcome] = (await client.second?.([call])) ?? []
  return logsOf(outcome)
}

/**
 * Returns the logs of the followed provider together with those that it left out: a second one told of them, and their
 * receipts, which the followed one gives itself, have them too. So nobody can bring in a log that never was, and nobody
 * mixes two branches. Throws `NodeUnavailableError`.
 */
export async function withLeftOut(
  client: WitnessedClient,
  { diamond }: Pick<ServedChain, 'diamond'>,
  {
    own,
    second,
    span,
  }: { readonly own: readonly RpcLog[]; readonly second: readonly RpcLog[]; readonly span: LogSpan },
): Promise<readonly RpcLog[]> {
  const isInside = ({ blockNumber }: RpcLog): boolean => blockNumber >= span.from && blockNumber <= span.to
  const known = new Set(own.map(placeOf))
  const doubted = new Set(second.filter((log) => isInside(log) && !known.has(placeOf(log))).map(({ txHash }) => txHash))
  if (doubted.size === 0) return own
  const receipts = await client.batch([...doubted].map(receiptCall))
  const leftOut = receipts
    .flatMap((outcome) => logsOfReceipt(resultOf(outcome), diamond))
    .filter((log) => isInside(log) && !known.has(placeOf(log)))
  if (leftOut.length === 0) return own
  client.leftOutLogs?.()
  return [...own, ...leftOut].toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
}

/** Names the place of a log. Two branches have different ones. */
function placeOf({ blockHash, logIndex }: RpcLog): string {
  return `${blockHash} ${logIndex}`
}

/** Returns the logs of an answer; none when it is a refusal or garbage, which says nothing about the chain. */
function logsOf(outcome: RpcOutcome | undefined): readonly RpcLog[] {
  if (outcome?.ok !== true) return []
  try {
    return parseLogs(outcome.result)
  } catch (error) {
    if (error instanceof NodeUnavailableError) return []
    throw error
  }
}
