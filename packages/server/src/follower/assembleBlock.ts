import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { Address } from '@bezel/protocol'
import { decodeLog } from '../chain/events/index.ts'
import type { ChainBlock, ChainTransaction, PlacedEvent } from '../chain/chainBlock.ts'
import type { RpcBlock, RpcLog, RpcTransaction } from '../chain/chainJson.ts'

/**
 * Puts the Diamond's logs to the transactions of their block. Throws `NodeUnavailableError` when they are of another block of the same number:
 * the node changed its mind between two answers, and asking again helps.
 */
export function assembleBlock(read: RpcBlock, logs: readonly RpcLog[], diamond: Address): ChainBlock {
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
  return { block: read.block, transactions }
}

function toTransaction(transaction: RpcTransaction, index: number, logs: readonly RpcLog[]): ChainTransaction {
  const events = logs.flatMap((log): PlacedEvent[] => {
    const event = decodeLog(log)
    return event === undefined ? [] : [{ ...event, logIndex: log.logIndex }]
  })
  return { ...transaction, index, events, hasLogs: logs.length > 0 }
}
