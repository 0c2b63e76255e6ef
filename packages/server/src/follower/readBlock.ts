import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { Address, Hex } from '@bezel/protocol'
import type { RpcClient } from '../chain/rpcClient.ts'
import { type RpcOutcome } from '../chain/rpcOutcome.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import { assembleBlock } from './assembleBlock.ts'
import type { BloomTest } from './bloom.ts'
import {
  blockCall,
  chainIdCall,
  headNumberCall,
  logsCall,
  logsOfBlockCall,
  receiptCall,
  resultOf,
} from '../chain/chainCalls.ts'
import type { ChainBlock, Receipt } from '../chain/chainBlock.ts'
import { parseBlock, parseLogs, parseReceipt, quantity, type RpcBlock, type RpcLog } from '../chain/chainJson.ts'

/** What one look at the node found. */
export interface NodeReading {
  /** The node's own head. */
  readonly head: number
  /** From the number asked for on, without a gap; none when the node has none yet. */
  readonly blocks: readonly ChainBlock[]
  readonly receipts: readonly Receipt[]
}

export interface ReadBlocksOptions {
  readonly client: RpcClient
  readonly chain: Pick<ServedChain, 'chainId' | 'diamond'>
  readonly mayHaveLogs: BloomTest
  readonly from: number
  readonly count: number
  /** Reported hashes that are asked about. */
  readonly awaited: readonly Hex[]
}

/** `count` blocks from `from` on, the node's head and receipts in one round trip. Throws `NodeUnavailableError`. */
export async function readBlocks(options: ReadBlocksOptions): Promise<NodeReading> {
  const { client, chain, from, count, awaited } = options
  const numbers = Array.from({ length: count }, (_, i) => from + i)
  const outcomes = await client.batch([
    chainIdCall,
    headNumberCall,
    ...numbers.flatMap((number) => [blockCall(number, true), logsCall(chain.diamond, number, number)]),
    ...awaited.map(receiptCall),
  ])
  if (quantity(resultOf(outcomes[0])) !== chain.chainId) throw new NodeUnavailableError('the node is on another chain')
  const blocks: ChainBlock[] = []
  for (const [i, number] of numbers.entries()) {
    const read = parseBlock(resultOf(outcomes[2 + 2 * i]))
    if (read === undefined) break
    if (read.block.number !== number) throw new NodeUnavailableError('the node gave a block of another number')
    const logs = await logsOf(options, read, outcomes[3 + 2 * i])
    blocks.push(assembleBlock(read, logs, chain.diamond))
  }
  const receipts = outcomes.slice(2 + 2 * count).map(receiptIn)
  return {
    head: quantity(resultOf(outcomes[1])),
    blocks,
    receipts: receipts.filter((receipt) => receipt !== undefined),
  }
}

/**
 * Anybody can report any hash, and nodes refuse the receipts of some: of old transactions, or while they index. The block must not wait for
 * one of those, so it counts as not mined yet.
 */
function receiptIn(outcome: RpcOutcome): Receipt | undefined {
  try {
    return parseReceipt(resultOf(outcome))
  } catch (error) {
    if (error instanceof NodeUnavailableError) return undefined
    throw error
  }
}

/**
 * Behind one address there may be several nodes, of which one has the block and another not yet its logs, so that none are found. The
 * block itself tells whether that can be: then they are asked for by its hash.
 */
async function logsOf(
  { client, chain, mayHaveLogs }: ReadBlocksOptions,
  read: RpcBlock,
  outcome: RpcOutcome | undefined,
): Promise<readonly RpcLog[]> {
  const logs = parseLogs(resultOf(outcome))
  if (logs.length > 0 || !mayHaveLogs(read.logsBloom)) return logs
  return readLogsOfBlock(client, chain.diamond, read.block.hash)
}

async function readLogsOfBlock(client: RpcClient, diamond: Address, blockHash: Hex): Promise<readonly RpcLog[]> {
  const [outcome] = await client.batch([logsOfBlockCall(diamond, blockHash)])
  return parseLogs(resultOf(outcome))
}
