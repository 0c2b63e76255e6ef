import type { FollowedBlock } from '../store/blockStore.ts'
import type { RpcClient } from '../chain/rpcClient.ts'
import { blockCall, resultOf } from '../chain/chainCalls.ts'
import { parseBlock } from '../chain/chainJson.ts'

/** Where the chain as it was followed and the node's part ways. */
export type Fork =
  /** The node has no other block than ours: it is behind, or the two agree. */
  | { readonly kind: 'none' }
  | { readonly kind: 'at'; readonly ancestor: FollowedBlock }
  /** Not even the oldest block that is kept is the node's. */
  | { readonly kind: 'too_deep' }

/** Most looks find that the newest block is still the node's; reorganisations are short. */
const FIRST_BATCH_BLOCKS = 2
const BLOCKS_PER_BATCH = 32

/** Compares the blocks that are kept, newest first, with the node's. */
export async function findFork(client: RpcClient, kept: readonly FollowedBlock[]): Promise<Fork> {
  let isForked = false
  for (let from = 0, size = FIRST_BATCH_BLOCKS; from < kept.length; from += size, size = BLOCKS_PER_BATCH) {
    const part = kept.slice(from, from + size)
    const outcomes = await client.batch(part.map(({ number }) => blockCall(number, false)))
    for (const [i, ours] of part.entries()) {
      const theirs = parseBlock(resultOf(outcomes[i]))?.block
      if (theirs?.hash === ours.hash) return isForked ? { kind: 'at', ancestor: ours } : { kind: 'none' }
      if (theirs !== undefined) isForked = true
    }
  }
  return isForked ? { kind: 'too_deep' } : { kind: 'none' }
}
