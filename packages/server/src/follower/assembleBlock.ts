import type { Address } from '@bezel/protocol'
import type {
  ChainBlock,
  ChainTransaction,
  PlacedEvent,
  RpcBlock,
  RpcHeader,
  RpcLog,
  RpcTransaction,
} from '../chain/blocks.ts'
import { decodeLog, EventDecodeError } from '../chain/events.ts'
import { decodeMarketLog, type MarketEvent } from '../chain/marketEvents.ts'
import { createBreaks } from '../ground/breaks.ts'
import { NodeUnavailableError } from '../ground/unavailable.ts'

/**
 * Assigns the Diamond's logs to the transactions of their block. Throws `NodeUnavailableError` when the logs belong to
 * another block of the same number: the node switched chains between two answers, and a retry helps.
 */
export async function assembleBlock(read: RpcBlock, logs: readonly RpcLog[], diamond: Address): Promise<ChainBlock> {
  const takeBreak = createBreaks()

  const byTransaction = Map.groupBy(logs, ({ txIndex }) => txIndex)
  for (const log of logs) {
    if (log.blockHash !== read.block.hash || read.transactions[log.txIndex]?.hash !== log.txHash) {
      throw new NodeUnavailableError(`the node gave logs of another block ${read.block.number}`)
    }
  }
  const transactions: ChainTransaction[] = []
  for (const [index, transaction] of read.transactions.entries()) {
    const ofIt = byTransaction.get(index)
    if (ofIt === undefined && transaction.to !== diamond) continue
    transactions.push(toTransaction(transaction, index, ofIt ?? []))
    await takeBreak()
  }
  const senders = new Set(read.transactions.map(({ from }) => from))
  return { block: read.block, logsBloom: read.logsBloom, transactions, senders }
}

/** Returns a block without a log of the Diamond as its header tells it: its transactions are not known. */
export function emptyBlock({ block, logsBloom }: RpcHeader): ChainBlock {
  return { block, logsBloom, transactions: [], senders: new Set() }
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
