import { blockCall, parseBlock, resultOf, type Receipt } from '../chain/blocks.ts'
import type { Finality } from '../chain/finality.ts'
import type { RpcClient } from '../chain/rpcClient.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { ChainHead } from '../journal/clock.ts'
import { findBlock, listBlocks, type FollowedBlock } from '../store/blockStore.ts'
import type { Store } from '../store/sql.ts'
import type { ChainKnowledge } from './chainKnowledge.ts'
import type { Cursor } from './cursor.ts'

/** The point at which the followed chain and the node's chain part. */
type Fork =
  /** The node has no conflicting block: it is behind, or the two chains agree. */
  | { readonly kind: 'none' }
  | { readonly kind: 'at'; readonly ancestor: FollowedBlock }
  /** Even the oldest kept block is not on the node's chain. */
  | { readonly kind: 'too_deep' }

/** Number of blocks in the first comparison. Small, because reorganisations are short and mostly there is none. */
const FIRST_BATCH_BLOCKS = 2

const BLOCKS_PER_BATCH = 32

/**
 * Compares the kept blocks, newest first, with those of the node. The oldest one is asked for first: when the node has
 * another one there, or none yet, so it is with all of them, which may be thousands.
 */
async function findFork(client: RpcClient, kept: readonly FollowedBlock[]): Promise<Fork> {
  let isForked = false
  const compare = async (part: readonly FollowedBlock[]) => {
    const outcomes = await client.batch(part.map(({ number }) => blockCall(number, false)))
    return part.map((ours, i) => ({ ours, theirs: parseBlock(resultOf(outcomes[i]))?.block }))
  }
  for (let from = 0, size = FIRST_BATCH_BLOCKS; from < kept.length; from += size, size = BLOCKS_PER_BATCH) {
    const [oldest, ...compared] = await compare([kept.at(-1)!, ...kept.slice(from, from + size)])
    for (const { ours, theirs } of compared) {
      if (theirs?.hash === ours.hash) return isForked ? { kind: 'at', ancestor: ours } : { kind: 'none' }
      if (theirs !== undefined) isForked = true
    }
    if (oldest?.theirs === undefined && !isForked) return { kind: 'none' }
    if (oldest?.theirs?.hash !== oldest?.ours.hash) return { kind: 'too_deep' }
  }
  return isForked ? { kind: 'too_deep' } : { kind: 'none' }
}

/** The parts that undoing needs. */
export interface UndoParts {
  readonly client: RpcClient
  readonly store: Pick<Store, 'read'>
  readonly chain: Pick<ServedChain, 'slug'>
  readonly cursor: Pick<Cursor, 'undoTo' | 'requireAt'>
  readonly knowledge: Pick<ChainKnowledge, 'snapshotBlock' | 'prepareUndo' | 'open'>
}

/** Undoes the blocks that are not part of the node's chain. Returns true when there were any. */
export async function leaveForkOf(of: UndoParts): Promise<boolean> {
  const kept = await listBlocks(of.store.read, of.chain.slug)
  of.cursor.requireAt(kept[0])
  const fork = await findFork(of.client, kept)
  if (fork.kind === 'none') return false
  // When the blocks from that of the snapshot on are all kept, all of them can be undone, and it is taken again.
  const found = of.knowledge.snapshotBlock()
  const isWhole = found !== undefined && kept.at(-1)?.hash === found.hash
  if (fork.kind === 'too_deep' && !isWhole) throw new ReorgTooDeepError()
  await undoTo(of, kept, fork.kind === 'at' ? fork.ancestor : undefined)
  return true
}

/** Undoes block `number` and all after it, so that they are read again. Returns false when they are final. */
export async function undoFrom(of: UndoParts, number: number): Promise<boolean> {
  const kept = await listBlocks(of.store.read, of.chain.slug)
  const ancestor = kept.find((block) => block.number < number)
  if (ancestor === undefined) return false
  await undoTo(of, kept, ancestor)
  return true
}

async function undoTo(
  { knowledge, cursor }: UndoParts,
  kept: readonly FollowedBlock[],
  ancestor: FollowedBlock | undefined,
): Promise<void> {
  await knowledge.prepareUndo(ancestor === undefined ? 'all' : kept.filter(({ number }) => number > ancestor.number))
  await cursor.undoTo(ancestor, knowledge.snapshotBlock())
  await knowledge.open()
}

/**
 * Returns the numbers of these blocks that the node replaced by others. Throws `NodeUnavailableError` when it has all
 * of them: then it left out the logs that it gave before.
 */
export async function replacedOf(
  client: RpcClient,
  blocks: readonly Pick<FollowedBlock, 'number' | 'hash'>[],
): Promise<number[]> {
  if (blocks.length === 0) return []
  const outcomes = await client.batch(blocks.map(({ number }) => blockCall(number, false)))
  const replaced = blocks.filter(({ hash }, i) => parseBlock(resultOf(outcomes[i]))?.block.hash !== hash)
  if (replaced.length === 0) throw new NodeUnavailableError('the node left out logs that it gave before')
  return replaced.map(({ number }) => number)
}

/**
 * Reads the blocks of receipts that were passed over, so that what is stored as of them can be undone. Only those that
 * can still be undone and are not stored; mostly there is none. Throws `NodeUnavailableError`.
 */
export async function readPassedOver(
  of: {
    readonly client: RpcClient
    readonly store: Pick<Store, 'read'>
    readonly chain: Pick<ServedChain, 'slug'>
    readonly head: Pick<ChainHead, 'current'>
    readonly finality: Pick<Finality, 'lastFinal'>
  },
  receipts: readonly Receipt[],
): Promise<FollowedBlock[]> {
  const own = of.head.current()
  if (own === undefined) return []
  const missing = new Map<number, Receipt>()
  for (const receipt of receipts) {
    const { blockNumber } = receipt
    if (blockNumber >= own.number || blockNumber <= of.finality.lastFinal(own.number)) continue
    if ((await findBlock(of.store.read, of.chain.slug, blockNumber)) === undefined) missing.set(blockNumber, receipt)
  }
  if (missing.size === 0) return []
  const outcomes = await of.client.batch([...missing.keys()].map((number) => blockCall(number, false)))
  return outcomes.flatMap((outcome) => {
    const block = parseBlock(resultOf(outcome))?.block
    return block !== undefined && missing.get(block.number)?.blockHash === block.hash ? [block] : []
  })
}

/** Thrown when the node's chain departs from the followed one before the oldest block that can be undone. */
export class ReorgTooDeepError extends Error {
  override readonly name = 'ReorgTooDeepError'

  constructor() {
    super('the node is on a chain that has none of the blocks that are kept for undoing')
  }
}
