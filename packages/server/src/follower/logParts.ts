import type { Address } from '@bezel/protocol'
import { logsCall, parseLogs, resultOf, type RpcLog } from '../chain/blocks.ts'
import type { FollowerClient } from '../chain/providers/followerClient.ts'
import { createLearntLimit, type LearntLimit } from '../chain/providers/learntLimit.ts'
import type { RpcCall, RpcClient } from '../chain/rpcClient.ts'
import { NodeUnavailableError } from '../ground/unavailable.ts'

/** Blocks, both included, of which logs are asked for. */
export interface LogSpan {
  readonly from: number
  readonly to: number
}

/** Number of blocks of one question that nearly every plan allows. */
export const PART_BLOCKS = 10

/**
 * The most blocks that are asked for in parts: above what one look asks about, which is 128 blocks to prove and 64 new
 * ones. A longer span is only read after an absence, by ranges of its own.
 */
const MAX_SPAN_BLOCKS = 200

/** The number of blocks of one question for logs that a provider takes. */
export interface LogRange extends LearntLimit {
  /** True when a look may ask about more. It then asks in parts, once it knows how many blocks there are. */
  isNarrow(): boolean
}

/** Creates the range of a provider: its setting, and what was learnt from refusals. */
export function createLogRange(client: Partial<Pick<FollowerClient, 'logRange'>>, now: () => number): LogRange {
  const learnt = createLearntLimit({ max: Number.POSITIVE_INFINITY, now })
  // A part of few blocks is refused for another reason than its length.
  const current = (): number => Math.min(client.logRange?.() ?? Infinity, Math.max(PART_BLOCKS, learnt.current()))
  return { current, refused: learnt.refused, isNarrow: () => current() < MAX_SPAN_BLOCKS }
}

/** Returns the questions for the logs of a span, by default in the parts that nearly every plan allows. */
export function partCalls(diamond: Address, span: LogSpan, blocks = PART_BLOCKS): RpcCall[] {
  return partsOf(span, blocks).map(({ from, to }) => logsCall(diamond, from, to))
}

function partsOf({ from, to }: LogSpan, max: number): LogSpan[] {
  const blocks = Math.min(max, to - from + 1)
  const starts = Array.from({ length: Math.ceil((to - from + 1) / blocks) }, (_, at) => from + at * blocks)
  return starts.map((start) => ({ from: start, to: Math.min(to, start + blocks - 1) }))
}

/** Returns true for a span of too many parts, as a node that names a wrong newest block would have asked for. */
export function isTooLong({ from, to }: LogSpan): boolean {
  return to - from + 1 > MAX_SPAN_BLOCKS
}

/** Returns true when a span that was refused as a whole can be asked for in parts. */
export function hasParts(span: LogSpan): boolean {
  return span.to - span.from + 1 > PART_BLOCKS && !isTooLong(span)
}

/**
 * Reads the logs of a span in as few parts as the followed provider takes. Resolves to `undefined` when it refuses the
 * smallest ones too. Throws `NodeUnavailableError`.
 */
export async function readLogParts(
  client: RpcClient,
  diamond: Address,
  { span, range }: { readonly span: LogSpan; readonly range: LogRange },
): Promise<RpcLog[] | undefined> {
  for (;;) {
    const blocks = Math.min(range.current(), span.to - span.from + 1)
    const parts = partsOf(span, blocks)
    const outcomes = await client.batch(partCalls(diamond, span, blocks))
    if (outcomes.every(({ ok }) => ok)) {
      return parts.flatMap((part, at) => requireWithin(part, parseLogs(resultOf(outcomes[at]), diamond)))
    }
    if (blocks <= PART_BLOCKS) return undefined
    range.refused(blocks)
  }
}

/** Returns the logs of a part. One of a block beyond it would be there twice, because another part has it too. */
function requireWithin({ from, to }: LogSpan, logs: RpcLog[]): RpcLog[] {
  if (logs.every(({ blockNumber }) => blockNumber >= from && blockNumber <= to)) return logs
  throw new NodeUnavailableError('the node gave logs that were not asked for')
}
