import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { Address, Hex } from '@bezel/protocol'
import { chainIdCall, type RpcClient, type RpcOutcome } from '../chain/rpcClient.ts'
import type { Finality } from '../chain/finality.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import {
  blockCall,
  headNumberCall,
  logsCall,
  logsOfBlockCall,
  receiptCall,
  resultOf,
  transactionCall,
  type ChainBlock,
  type Receipt,
  parseBlock,
  parseLogs,
  parseReceipt,
  parseTransaction,
  quantity,
  type RpcBlock,
  type RpcLog,
  type ChainTransaction,
  type PlacedEvent,
  type RpcTransaction,
} from '../chain/blocks.ts'
import { decodeLog, EventDecodeError } from '../chain/events.ts'
import { decodeMarketLog, type MarketEvent } from '../chain/marketEvents.ts'
import { keccak256 } from 'viem'

/** Result of one read from the node. */
interface NodeReading {
  /** Number of the node's newest block. */
  readonly head: number
  /** Consecutive blocks from the requested number on; empty when the node has none yet. */
  readonly blocks: readonly ChainBlock[]
  readonly reported: ReportedReading
}

/** The findings about reported hashes. */
export interface ReportedReading {
  readonly receipts: readonly Receipt[]
  /** Transactions, mined or not, that no node had known before. */
  readonly seen: readonly RpcTransaction[]
}

/** A reported hash to ask about. */
export interface AwaitedHash {
  readonly hash: Hex
  /** True while no node knows the transaction. */
  readonly isUnseen: boolean
}

interface ReadBlocksOptions {
  readonly client: RpcClient
  readonly chain: Pick<ServedChain, 'chainId' | 'diamond'>
  readonly mayHaveLogs: BloomTest
  readonly from: number
  readonly count: number
  /** Reported transactions whose receipts are read; those that no node knew are looked up too. */
  readonly awaited: readonly AwaitedHash[]
  /** Asks for the final block in the same round trip. */
  readonly finality: Pick<Finality, 'calls' | 'answered'>
}

/**
 * Reads `count` blocks from `from` on, the node's head and receipts in one round trip; a second one only for logs that
 * are missing. Throws `NodeUnavailableError`.
 */
export async function readBlocks(options: ReadBlocksOptions): Promise<NodeReading> {
  const { client, chain, from, count, awaited, finality } = options
  const numbers = Array.from({ length: count }, (_, i) => from + i)
  const unseen = awaited.filter(({ isUnseen }) => isUnseen)
  const outcomes = await client.batch([
    chainIdCall,
    headNumberCall,
    ...numbers.flatMap((number) => [blockCall(number, true), logsCall(chain.diamond, number, number)]),
    ...awaited.map(({ hash }) => receiptCall(hash)),
    ...unseen.map(({ hash }) => transactionCall(hash)),
    ...finality.calls(),
  ])
  if (quantity(resultOf(outcomes[0])) !== chain.chainId) throw new NodeUnavailableError('the node is on another chain')
  const blocks: ChainBlock[] = []
  for (const [i, number] of numbers.entries()) {
    const read = parseBlock(resultOf(outcomes[2 + 2 * i]))
    if (read === undefined) break
    if (read.block.number !== number) throw new NodeUnavailableError('the node gave a block of another number')
    const logs = await readLogs(options, read, outcomes[3 + 2 * i])
    blocks.push(assembleBlock(read, logs, chain.diamond))
  }
  const answers = outcomes.slice(2 + 2 * count)
  finality.answered(answers.splice(awaited.length + unseen.length))
  const reported = {
    receipts: readable(answers.slice(0, awaited.length), parseReceipt),
    seen: readable(answers.slice(awaited.length), (json) => (json === null ? undefined : parseTransaction(json))),
  }
  return { head: quantity(resultOf(outcomes[1])), blocks, reported }
}

/**
 * Reads the answers about reported hashes; a refused one counts as not known yet. Anybody can report any hash, and
 * nodes refuse some, of old transactions or while they index. That must not hold up the block.
 */
function readable<Found>(outcomes: readonly RpcOutcome[], parse: (json: unknown) => Found | undefined): Found[] {
  return outcomes.flatMap((outcome) => {
    try {
      return parse(resultOf(outcome)) ?? []
    } catch (error) {
      if (error instanceof NodeUnavailableError) return []
      throw error
    }
  })
}

/**
 * Returns the logs of a block. Behind one URL there may be several nodes, and one of them may not have the logs yet and
 * find none. When the block's bloom filter says that there may be some, they are asked for again by the block's hash.
 */
async function readLogs(
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

/**
 * Assigns the Diamond's logs to the transactions of their block. Throws `NodeUnavailableError` when the logs belong to
 * another block of the same number: the node switched chains between two answers, and a retry helps.
 */
function assembleBlock(read: RpcBlock, logs: readonly RpcLog[], diamond: Address): ChainBlock {
  const byTransaction = Map.groupBy(logs, ({ txIndex }) => txIndex)
  for (const log of logs) {
    if (log.blockHash !== read.block.hash || read.transactions[log.txIndex]?.hash !== log.txHash) {
      throw new NodeUnavailableError(`the node gave logs of another block ${read.block.number}`)
    }
  }
  const transactions = read.transactions.flatMap((transaction, index) => {
    const ofIt = byTransaction.get(index)
    const concerns = ofIt !== undefined || transaction.to === diamond
    return concerns ? [toTransaction(transaction, index, ofIt ?? [])] : []
  })
  return { block: read.block, transactions, senders: new Set(read.transactions.map(({ from }) => from)) }
}

function toTransaction(transaction: RpcTransaction, index: number, logs: readonly RpcLog[]): ChainTransaction {
  const undecoded: string[] = []
  const events: PlacedEvent[] = []
  const marketEvents: MarketEvent[] = []
  for (const log of logs) {
    try {
      const event = decodeLog(log)
      if (event !== undefined) events.push({ ...event, logIndex: log.logIndex })
      const marketEvent = decodeMarketLog(log)
      if (marketEvent !== undefined) marketEvents.push(marketEvent)
    } catch (error) {
      if (!(error instanceof EventDecodeError)) throw error
      undecoded.push(error.event)
    }
  }
  const topics = logs.flatMap(({ topics: [topic] }) => topic ?? [])
  return { ...transaction, index, events, marketEvents, hasLogs: logs.length > 0, topics, undecoded }
}

/** Returns false when a block certainly has no logs of a contract, judged by the block's bloom filter. */
type BloomTest = (logsBloom: Hex) => boolean

/**
 * Makes the bloom test of an address. The filter has 2048 bits; each logging address sets three of them, chosen by its
 * hash.
 */
export function bloomTestOf(address: Address): BloomTest {
  const digits = keccak256(address).slice(2)
  const bits = [0, 4, 8].map((at) => Number.parseInt(digits.slice(at, at + 4), 16) & 2047)
  return (logsBloom) => bits.every((bit) => isSet(logsBloom, bit))
}

/** Returns true when a bit of the filter is set. Bit 0 is the lowest bit of the last byte. */
function isSet(logsBloom: Hex, bit: number): boolean {
  const digit = logsBloom.at(-1 - (bit >> 2))
  return digit !== undefined && (Number.parseInt(digit, 16) & (1 << (bit & 3))) !== 0
}

/** Number of blocks in the first range. */
const FIRST_RANGE_BLOCKS = 1_000

const MAX_RANGE_BLOCKS = 10_000

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
 * Makes a range reader. The range doubles after each success and halves after each failure, also when the node may only
 * be down, because a range that takes too long looks the same.
 */
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
 * Reads the blocks of a range in which the Diamond emitted logs, and the last block. Only for blocks far below the
 * head: their parent hashes are not checked. Failed transactions in other blocks are not seen; the receipts of reported
 * ones are read later. Throws `RangeRefusedError` when the node refuses the range.
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
  // Behind one URL there may be several nodes; one that is behind returns the logs it has as if they were all.
  if (quantity(resultOf(head)) < to) throw new NodeUnavailableError(`the node has not come to block ${to} yet`)
  const { block } = requireBlock(parseBlock(resultOf(last)), to)
  if (found?.ok !== true) throw new RangeRefusedError(found?.message ?? 'no answer')
  const byNumber = Map.groupBy(parseLogs(found.result), ({ blockNumber }) => blockNumber)
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

/** Thrown when the node refuses a range because it is too wide or has too many logs. */
class RangeRefusedError extends NodeUnavailableError {
  constructor(message: string) {
    super(`the node refused a range of logs: ${message}`)
  }
}
