import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { FollowerClient } from '../chain/providers/followerClient.ts'
import { chainIdCall, type RpcClient, type RpcOutcome } from '../chain/rpcClient.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import {
  blockCall,
  headNumberCall,
  logsCall,
  resultOf,
  type ChainBlock,
  parseBlock,
  parseLogs,
  quantity,
  type RpcBlock,
  type RpcLog,
} from '../chain/blocks.ts'
import { assembleBlock } from './assembleBlock.ts'
import { askSecond, withLeftOut, type WitnessedClient } from './secondWitness.ts'

/** Number of blocks in the first range. */
const FIRST_RANGE_BLOCKS = 1_000

const MAX_RANGE_BLOCKS = 10_000

/** Number of ranges that are read before one as long as a refused one is tried again. */
const RANGES_BEFORE_LONGER = 200

/**
 * Number of blocks read, and applied in one transaction, at a time. Small, because blocks with their transactions are
 * large and other writers wait for the transaction.
 */
const BLOCKS_PER_BATCH = 20

/**
 * Reads the widest range from `from` on that the node accepts, at most up to `target`. Yields it in parts, and fetches
 * the next part while one is used.
 */
type RangeReader = (from: number, target: number) => AsyncGenerator<readonly ChainBlock[]>

/**
 * Makes a range reader. The range doubles after each success up to the one that was refused last, and halves after each
 * failure, also when the node may only be down, because a range that takes too long looks the same.
 */
export function createRangeReader(
  client: WitnessedClient & Partial<Pick<FollowerClient, 'logRange'>>,
  chain: Pick<ServedChain, 'chainId' | 'diamond'>,
): RangeReader {
  let size = FIRST_RANGE_BLOCKS
  /** The shortest range that was refused. A longer one is not tried again before `ranges` others were read. */
  let refused: { readonly size: number; ranges: number } | undefined

  function grow(): void {
    if (refused !== undefined && refused.ranges-- <= 0) refused = undefined
    if (refused === undefined || size * 2 < refused.size) size = Math.min(MAX_RANGE_BLOCKS, size * 2)
  }

  return async function* read(from, target): ReturnType<RangeReader> {
    const to = Math.min(target, from + Math.min(size, client.logRange?.() ?? size) - 1)
    try {
      yield* readRange(client, chain, { from, to })
      if (to - from + 1 === size) grow()
    } catch (error) {
      const asked = to - from + 1
      size = Math.max(1, Math.floor(asked / 2))
      if (!(error instanceof RangeRefusedError) || from >= to) throw error
      refused = { size: asked, ranges: RANGES_BEFORE_LONGER }
      yield* read(from, target)
    }
  }
}

/**
 * Reads the blocks of a range in which the Diamond emitted logs, and the last block. Only for blocks far below the
 * head: their parent hashes are not checked. Failed transactions in other blocks are not seen; the receipts of reported
 * ones are read later. Throws `RangeRefusedError` when the node refuses the range.
 */
async function* readRange(
  client: WitnessedClient,
  chain: Pick<ServedChain, 'chainId' | 'diamond'>,
  range: { readonly from: number; readonly to: number },
): AsyncGenerator<readonly ChainBlock[]> {
  const { from, to } = range
  const logQuestion = logsCall(chain.diamond, from, to)
  const [[chainId, head, last, found], second] = await Promise.all([
    client.batch([chainIdCall, headNumberCall, blockCall(to, false), logQuestion]),
    askSecond(client, chain, logQuestion),
  ])
  if (quantity(resultOf(chainId)) !== chain.chainId) throw new NodeUnavailableError('the node is on another chain')
  // Behind one URL there may be several nodes; one that is behind returns the logs it has as if they were all.
  if (quantity(resultOf(head)) < to) throw new NodeUnavailableError(`the node has not come to block ${to} yet`)
  const { block } = requireBlock(parseBlock(resultOf(last)), to)
  if (found?.ok !== true) throw new RangeRefusedError(found?.message ?? 'no answer')
  const { logs } = await withLeftOut(client, chain, {
    own: parseLogs(found.result, chain.diamond),
    second,
    span: range,
  })
  const byNumber = Map.groupBy(logs, ({ blockNumber }) => blockNumber)
  for (const number of byNumber.keys()) {
    if (number < from || number > to) throw new NodeUnavailableError('the node gave logs that were not asked for')
  }
  for await (const blocks of readAll(client, chain, byNumber, [...new Set([...byNumber.keys(), to])])) {
    const read = blocks.at(-1)?.block
    if (read?.number === to && read.hash !== block.hash) {
      throw new NodeUnavailableError('the node switched chains within a range of logs')
    }
    yield blocks
  }
}

async function* readAll(
  client: RpcClient,
  { diamond }: Pick<ServedChain, 'diamond'>,
  logs: ReadonlyMap<number, readonly RpcLog[]>,
  numbers: readonly number[],
): AsyncGenerator<readonly ChainBlock[]> {
  const ask = (at: number): Promise<RpcOutcome[]> => {
    const asked = client.batch(numbers.slice(at, at + BLOCKS_PER_BATCH).map((number) => blockCall(number, true)))
    // The consumer may stop before it awaits this part; its failure must not become an unhandled rejection.
    asked.catch(() => undefined)
    return asked
  }
  let ahead = ask(0)
  for (let at = 0; at < numbers.length; at += BLOCKS_PER_BATCH) {
    const outcomes = await ahead
    ahead = ask(at + BLOCKS_PER_BATCH)
    const blocks: ChainBlock[] = []
    for (const [i, number] of numbers.slice(at, at + BLOCKS_PER_BATCH).entries()) {
      const read = requireBlock(parseBlock(resultOf(outcomes[i])), number)
      blocks.push(await assembleBlock(read, logs.get(number) ?? [], diamond))
    }
    yield blocks
  }
}

/** Returns the block when it has this number. Throws `NodeUnavailableError`. */
export function requireBlock(read: RpcBlock | undefined, number: number): RpcBlock {
  if (read?.block.number === number) return read
  throw new NodeUnavailableError(`the node did not give block ${number}`)
}

/** Thrown when the node refuses a range because it is too wide or has too many logs. */
class RangeRefusedError extends NodeUnavailableError {
  constructor(message: string) {
    super(`the node refused a range of logs: ${message}`)
  }
}
