import type { Hex } from 'viem'

/** A log in the form of JSON-RPC. */
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

/** A block in the form of `eth_getBlockByNumber(.., false)`; the members that are read here are named. */
export interface NodeBlock {
  number: Hex
  hash: Hex
  parentHash: Hex
  timestamp: Hex
  mixHash: Hex
  transactions: Hex[]
  [member: string]: unknown
}

/** A new head, as listeners get it. */
export interface MinedBlock {
  number: number
  hash: Hex
  parentHash: Hex
  timestampS: number
  /** Transaction hashes in block order. */
  transactions: readonly Hex[]
  logs: readonly ChainLog[]
  /** Logs of replaced blocks, newest first, each with `removed: true`. Empty except after a reorg or evm_revert. */
  removedLogs: readonly ChainLog[]
  /** The header for newHeads. */
  header: Readonly<Record<string, unknown>>
}

/** Converts a block and its logs for the listeners. */
export function toMinedBlock(
  block: NodeBlock,
  logs: readonly ChainLog[],
  removedLogs: readonly ChainLog[],
): MinedBlock {
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

/** Removes the listener that was added. */
export type Unsubscribe = () => void

/** A list of listeners, called in the order in which they were added. */
export interface Listeners<T> {
  add(listener: (value: T) => void): Unsubscribe
  tell(value: T): void
}

/** Creates a list of listeners. One that throws is reported, and the others are called all the same. */
export function createListeners<T>(report: (error: unknown) => void): Listeners<T> {
  const listeners = new Set<(value: T) => void>()
  return {
    add(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    tell(value) {
      for (const listener of listeners) {
        try {
          listener(value)
        } catch (error) {
          report(error)
        }
      }
    },
  }
}
