import type { Hex } from '@bezel/protocol'
import type { ChainBlock } from '../chain/blocks.ts'
import { bloomTestOf } from '../chain/bloom.ts'
import type { Finality } from '../chain/finality.ts'
import type { FollowerClient } from '../chain/providers/followerClient.ts'
import type { RpcClient } from '../chain/rpcClient.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { FollowedBlock } from '../store/blockStore.ts'
import { insertReindex } from '../store/reindexStore.ts'
import type { Store } from '../store/sql.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import type { ChainKnowledge, KnowledgeOptions } from './chainKnowledge.ts'
import { createCursor, type CursorCounts, type CursorOptions } from './cursor.ts'
import { leaveForkOf, readPassedOver, undoFrom } from './leaveFork.ts'
import { createLogRange } from './logParts.ts'
import { createLogProof, type LogProof } from './logProof.ts'
import type { FollowedNode } from './readNews.ts'
import { readRenewedParams } from './readRenewedParams.ts'
import type { ReportedReading } from './readReported.ts'

export interface CourseOptions extends Omit<CursorOptions, 'chain'>, Omit<KnowledgeOptions, 'head'> {
  readonly chain: ServedChain
  readonly client: RpcClient & Partial<FollowerClient>
  readonly store: Store
  /** Told of a block whose logs were missed, and which is applied again with them. */
  readonly onMissedLogs?: (block: number) => void
  /** Told of blocks once they are applied; the next ones wait for it. */
  readonly onApplied?: (blocks: readonly ChainBlock[]) => Promise<void>
  /** Told of the last block that is left once others are undone; the next ones wait for it. */
  readonly onUndone?: (head: FollowedBlock | undefined) => Promise<void>
  readonly finality: Finality
}

/** The way along a chain: the last applied block, and the steps forward and back from it. */
export interface Course {
  readonly node: FollowedNode
  /** The logs of the last applied blocks, which the next look proves. */
  readonly proof: LogProof
  /** Loads the stored cursor. Called before anything else. */
  open(): Promise<void>
  /** Returns the last applied block. */
  last(): FollowedBlock | undefined
  nextNumber(): number
  counts(): CursorCounts
  apply(blocks: readonly ChainBlock[], reported: ReportedReading, markets: ChainMarkets): Promise<void>
  /** Undoes the blocks that are not part of the node's chain. Returns true when there were any. */
  leaveFork(): Promise<boolean>
  /**
   * Takes back a block whose logs were missed, and all after it. Returns false when it is final: then it is read again
   * by and by, as when the operator asks for it.
   */
  redoFrom(number: number): Promise<boolean>
  /** Believes no bloom filter from now on: one hid a log, as on chains without filters. */
  distrustBlooms(): void
}

export function createCourse(options: CourseOptions, knowledge: ChainKnowledge): Course {
  const { chain, client, head, finality } = options
  const cursor = createCursor({ ...options, chain: chain.slug })
  const requireDecoded = createDecodedCheck()
  const proof = createLogProof()
  const undoing = { ...options, cursor, knowledge }
  const isInBloom = bloomTestOf(chain.diamond)
  const logRange = createLogRange(client, options.now)
  const secondRange = createLogRange({ logRange: () => client.secondLogRange?.() }, options.now)
  const mayHaveLogs = (logsBloom: Hex): boolean => !areBloomsTrue || isInBloom(logsBloom)
  let areBloomsTrue = true

  const nextNumber = (): number => (head.current()?.number ?? (options.startBlock ?? 0) - 1) + 1

  async function tellUndone(): Promise<void> {
    proof.clear()
    await options.onUndone?.(head.current())
  }

  return {
    node: { client, chain, finality, mayHaveLogs, logRange, secondRange },
    proof,
    open: cursor.open,
    last: head.current,
    nextNumber,
    counts: cursor.counts,
    async apply(blocks, reported, markets) {
      requireDecoded(blocks)
      const next = nextNumber()
      const renewed = await readRenewedParams(client, chain.diamond, blocks)
      const passedOver = await readPassedOver(options, reported.receipts)
      await cursor.apply(blocks, { ...reported, passedOver }, { markets, renewed })
      for (const block of blocks) proof.applied(next, block)
      await options.onApplied?.(blocks)
    },
    async leaveFork() {
      if (!(await leaveForkOf(undoing))) return false
      await tellUndone()
      return true
    },
    async redoFrom(number) {
      options.onMissedLogs?.(number)
      if (await undoFrom(undoing, number)) {
        await tellUndone()
        return true
      }
      const range = { chain: chain.slug, fromBlock: number, toBlock: nextNumber() - 1 }
      await options.accountLog.transaction({ chain: chain.slug }, { block: null, isReorg: false }, (sql) =>
        insertReindex(sql, range),
      )
      return false
    },
    distrustBlooms() {
      areBloomsTrue = false
    },
  }
}

/**
 * Returns a check that throws `NodeUnavailableError` for the first log of an event that could not be decoded, so that
 * it is read again: the node may have answered garbage. After that such logs are passed over, because all others'
 * orders must go on.
 */
function createDecodedCheck(): (blocks: readonly ChainBlock[]) => void {
  const doubted = new Set<string>()
  return (blocks) => {
    for (const { block, transactions } of blocks) {
      const event = transactions.flatMap(({ undecoded }) => undecoded).find((name) => !doubted.has(name))
      if (event === undefined) continue
      doubted.add(event)
      throw new NodeUnavailableError(`a ${event} log of block ${block.number} is not as the ABI says`)
    }
  }
}
