import type { Hex } from './quantity.ts'

/** A log as JSON-RPC gives it. */
export interface ChainLog {
  address: Hex
  topics: Hex[]
  data: Hex
  blockNumber: Hex
  blockHash: Hex
  transactionHash: Hex
  transactionIndex: Hex
  logIndex: Hex
  removed: boolean
}

/** A block as `eth_getBlockByNumber(.., false)` gives it; the members that are read here are named. */
export interface RpcBlock {
  number: Hex
  hash: Hex
  parentHash: Hex
  timestamp: Hex
  mixHash: Hex
  transactions: Hex[]
  [member: string]: unknown
}

/** What listeners are told about each new head. */
export interface MinedBlock {
  number: number
  hash: Hex
  parentHash: Hex
  timestampS: number
  /** Transaction hashes in block order. */
  transactions: readonly Hex[]
  logs: readonly ChainLog[]
  /** Logs of blocks that this one's chain replaced, newest first, each with `removed: true`. Empty but after a reorg or evm_revert. */
  removedLogs: readonly ChainLog[]
  /** The header for newHeads. */
  header: Readonly<Record<string, unknown>>
}

/** Shapes a block and its logs for the listeners. */
export function toMinedBlock(block: RpcBlock, logs: readonly ChainLog[], removedLogs: readonly ChainLog[]): MinedBlock {
  const {
    transactions,
    uncles: _uncles,
    size: _size,
    totalDifficulty: _total,
    withdrawals: _withdrawals,
    ...header
  } = block
  return {
    number: Number(block.number),
    hash: block.hash,
    parentHash: block.parentHash,
    timestampS: Number(block.timestamp),
    transactions,
    logs,
    removedLogs,
    header,
  }
}
