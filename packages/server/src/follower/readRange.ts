import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { RpcClient } from '../chain/rpcClient.ts'
import { type RpcOutcome } from '../chain/rpcOutcome.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import { assembleBlock } from './assembleBlock.ts'
import type { ChainBlock } from '../chain/chainBlock.ts'
import { blockCall, chainIdCall, headNumberCall, logsCall, resultOf } from '../chain/chainCalls.ts'
import { parseBlock, parseLogs, quantity, type RpcBlock, type RpcLog } from '../chain/chainJson.ts'

/** Blocks of one range, to begin with and at most. */
const FIRST_RANGE_BLOCKS = 1_000
const MAX_RANGE_BLOCKS = 10_000
/** Blocks with their transactions are large, and what comes in one batch is applied in one transaction: other writers want their turn. */
const BLOCKS_PER_BATCH = 20

/**
 * Reads as wide a range from `from` on as the node takes at once, at most up to `target`. It comes in parts, and while one is used the
 * next is on its way.
 */
export type RangeReader = (from: number, target: number) => AsyncGenerator<readonly ChainBlock[]>

/** Ranges get wider as long as it works, and half as wide whenever it does not: a node that is too slow for one may only be away. */
export function createRangeReader(client: RpcClient, chain: Pick<ServedChain, 'chainId' | 'diamond'>): RangeReader {
  let size = FIRST_RANGE_BLOCKS
  return async function* read(from, target): ReturnType<RangeReader> {
    const to = Math.min(target, from + size - 1)
    try {
      yield* readRange(client, chain, { from, to })
      size = Math.min(MAX_RANGE_BLOCKS, size * 2)
    } catch (error) {
      size = Math.max(1, Math.floor(size / 2))
      if (!(error instanceof RangeRefusedError) || from >= to) throw error
      yield* read(from, target)
    }
  }
}

/**
 * The blocks of a range in which the Diamond spoke, and its last block. For blocks that are final: whether they follow each other is not
 * checked. Transactions that failed in other blocks are not seen; those that were reported are asked about later. Throws `RangeRefusedError` when the node does not give so many logs at once.
 */
async function* readRange(
  client: RpcClient,
  chain: Pick<ServedChain, 'chainId' | 'diamond'>,
  range: { readonly from: number; readonly to: number },
): AsyncGenerator<readonly ChainBlock[]> {
  const { from, to } = range
  const [chainId, head, last, found] = await client.batch([
    chainIdCall,
    headNumberCall,
    blockCall(to, false),
    logsCall(chain.diamond, from, to),
  ])
  if (quantity(resultOf(chainId)) !== chain.chainId) throw new NodeUnavailableError('the node is on another chain')
  // Behind one address there may be several nodes, and one that is behind gives the logs it has as if they were all.
  if (quantity(resultOf(head)) < to) throw new NodeUnavailableError(`the node has not come to block ${to} yet`)
  requireBlock(parseBlock(resultOf(last)), to)
  if (found?.ok !== true) throw new RangeRefusedError(found?.message ?? 'no answer')
  const byNumber = Map.groupBy(parseLogs(found.result), ({ blockNumber }) => blockNumber)
  for (const number of byNumber.keys()) {
    if (number < from || number > to) throw new NodeUnavailableError('the node gave logs that were not asked for')
  }
  yield* readAll(client, chain, byNumber, [...new Set([...byNumber.keys(), to])])
}

async function* readAll(
  client: RpcClient,
  { diamond }: Pick<ServedChain, 'diamond'>,
  logs: ReadonlyMap<number, readonly RpcLog[]>,
  numbers: readonly number[],
): AsyncGenerator<readonly ChainBlock[]> {
  const ask = (at: number): Promise<RpcOutcome[]> => {
    const asked = client.batch(numbers.slice(at, at + BLOCKS_PER_BATCH).map((number) => blockCall(number, true)))
    // Whoever uses the parts may fail before this one is waited for; then nobody minds what became of it.
    asked.catch(() => undefined)
    return asked
  }
  let ahead = ask(0)
  for (let at = 0; at < numbers.length; at += BLOCKS_PER_BATCH) {
    const outcomes = await ahead
    ahead = ask(at + BLOCKS_PER_BATCH)
    yield numbers.slice(at, at + BLOCKS_PER_BATCH).map((number, i) => {
      const read = requireBlock(parseBlock(resultOf(outcomes[i])), number)
      return assembleBlock(read, logs.get(number) ?? [], diamond)
    })
  }
}

function requireBlock(read: RpcBlock | undefined, number: number): RpcBlock {
  if (read?.block.number === number) return read
  throw new NodeUnavailableError(`the node did not give block ${number}`)
}

/** The node does not take so wide a range, or does not give so many logs at once. */
class RangeRefusedError extends NodeUnavailableError {
  constructor(message: string) {
    super(`the node refused a range of logs: ${message}`)
  }
}
