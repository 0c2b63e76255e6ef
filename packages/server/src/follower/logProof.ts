import type { Hex } from '@bezel/protocol'
import type { ChainBlock, RpcLog } from '../chain/blocks.ts'

/** Blocks whose logs a second answer of the node tells otherwise. */
interface LogDoubts {
  /** Numbers of blocks with logs that were not applied. */
  readonly missed: readonly number[]
  /** True when one of them was applied without its transactions, because its bloom filter showed no log. */
  readonly hasBloomLied: boolean
  /** Blocks that were applied with logs which the answer does not have. */
  readonly vanished: readonly { readonly number: number; readonly hash: Hex }[]
}

/**
 * Proves that no log was missed. A range of logs, and a bloom filter, is believed at once, but behind one URL there may
 * be several nodes: one that is behind gives the logs that it has as if they were all. So the next look asks for the
 * logs of the same blocks again, together with those of new ones, and both answers must agree.
 */
export interface LogProof {
  /** Returns the first block whose logs are to be asked for, when `next` is the next one to apply. */
  from(next: number): number
  /** Notes a block that is applied, and that all blocks from `first` up to it had no other logs. */
  applied(first: number, block: ChainBlock): void
  /** Compares what was applied, up to block `last`, with the logs of an answer, which begins at `from`. */
  compare(logs: readonly RpcLog[], last: number): LogDoubts
  /** Forgets all applied blocks: they are proven, or undone. */
  clear(): void
}

/** The number of newest blocks that are proven. Some providers refuse wide ranges. */
const MAX_BLOCKS = 128

export function createLogProof(): LogProof {
  let begin: number | undefined
  /** Hashes of the blocks that were applied with logs, by number. */
  const withLogs = new Map<number, Hex>()
  /** Hashes of the blocks of which only the header was read, by number. */
  const headers = new Map<number, Hex>()

  return {
    from: (next) => begin ?? next,
    applied(first, { block, transactions, senders }) {
      begin = Math.max(begin ?? first, block.number - MAX_BLOCKS + 1)
      for (const map of [withLogs, headers]) {
        map.delete(block.number)
        for (const number of map.keys()) if (number < begin) map.delete(number)
      }
      if (transactions.some(({ hasLogs }) => hasLogs)) withLogs.set(block.number, block.hash)
      if (senders.size === 0) headers.set(block.number, block.hash)
    },
    compare(logs, last) {
      const from = begin
      if (from === undefined) return { missed: [], vanished: [], hasBloomLied: false }
      const found = new Map(
        logs
          .filter(({ blockNumber }) => blockNumber >= from && blockNumber <= last)
          .map(({ blockNumber, blockHash }) => [blockNumber, blockHash]),
      )
      const missed = [...found].flatMap(([number, hash]) => (withLogs.get(number) === hash ? [] : [number]))
      return {
        missed,
        hasBloomLied: missed.some((number) => headers.get(number) === found.get(number)),
        vanished: [...withLogs].flatMap(([number, hash]) =>
          number > last || found.has(number) ? [] : [{ number, hash }],
        ),
      }
    },
    clear() {
      begin = undefined
      withLogs.clear()
      headers.clear()
    },
  }
}
