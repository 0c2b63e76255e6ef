import type { Hex } from 'viem'
import { type ChainState, mineBlock } from './chainState.ts'
import { MAX_REORG_DEPTH, takeRecordsAbove, type BlockRecord } from './history.ts'
import { RPC_CODES, RpcError, invalidParams } from './jsonRpc.ts'
import { applyCheats, removedLogsAbove, rewindTo, runClosed } from './rewind.ts'

/** The fate of the transactions in the replaced blocks: dropped, or mined again in later blocks. */
export type ReorgMode = 'drop' | 'remine'

export interface ReorgSummary {
  /** Hashes of the replaced blocks, oldest first. */
  removed: Hex[]
  /** Hashes of the blocks in their place, oldest first: one more than was removed, so that followers switch. */
  added: Hex[]
  /** Number of transactions, mined before or waiting, that are neither on the new chain nor waiting for it. */
  lostTransactions: number
}

/** Replaces the last `depth` blocks. State set by hardhat_set* in between and waiting transactions are kept. */
export async function reorg(state: ChainState, depth: number, mode: ReorgMode): Promise<ReorgSummary> {
  if (!Number.isInteger(depth) || depth < 1)
    throw invalidParams(`depth must be a whole number of at least 1, not ${depth}`)
  return replaceLast(state, () => depth, mode)
}

/** Replaces block `first` and all after it, also those that are mined while the call is on its way. */
export async function reorgFrom(state: ChainState, first: number, mode: ReorgMode): Promise<ReorgSummary> {
  return replaceLast(
    state,
    (height) => {
      if (first < 1 || first > height) throw invalidParams(`the first block must be 1 to ${height}, not ${first}`)
      return height - first + 1
    },
    mode,
  )
}

/** Replaces a number of blocks that is worked out from the height when no further block can come. */
async function replaceLast(
  state: ChainState,
  depthAt: (height: number) => number,
  mode: ReorgMode,
): Promise<ReorgSummary> {
  if (mode !== 'drop' && mode !== 'remine')
    throw invalidParams(`mode must be "drop" or "remine", not ${JSON.stringify(mode)}`)
  return runClosed(state, async () => {
    const depth = depthAt(state.head.number)
    checkDepth(state, depth)
    return replaceBlocks(state, state.head.number - depth, mode)
  })
}

function checkDepth(state: ChainState, depth: number): void {
  const height = state.head.number
  if (depth > height)
    throw new RpcError(RPC_CODES.server, `cannot replace ${depth} blocks: the chain has ${height} after genesis`)
  const kept = Math.min(MAX_REORG_DEPTH, state.history.records.length)
  if (depth > kept)
    throw new RpcError(RPC_CODES.server, `cannot replace ${depth} blocks: only the last ${kept} are kept`)
}

async function replaceBlocks(state: ChainState, forkHeight: number, mode: ReorgMode): Promise<ReorgSummary> {
  const removedLogs = await removedLogsAbove(state, forkHeight)
  const waiting = state.mempool.takeAll()
  await rewindTo(state, forkHeight)
  const removed = takeRecordsAbove(state.history, forkHeight)
  const waitingCheats = state.history.cheats
  state.history.cheats = []
  // Begins with an empty block, so that each transaction comes back later than before.
  const added = [(await mineBlock(state, removedLogs)).hash]
  let lostTransactions = 0
  for (const record of removed) {
    lostTransactions += await prepareAgain(state, record, mode)
    added.push((await mineBlock(state)).hash)
  }
  await repeatCheats(state, waitingCheats)
  lostTransactions += await injectAll(state, waiting)
  return { removed: removed.map(({ hash }) => hash), added, lostTransactions }
}

async function prepareAgain(state: ChainState, record: BlockRecord, mode: ReorgMode): Promise<number> {
  await repeatCheats(state, record.cheats)
  return mode === 'remine' ? injectAll(state, record.rawTransactions) : record.rawTransactions.length
}

// Repeats the state setters. One that no longer fits, such as a nonce that would go back, is skipped, because the reorg
// has to finish.
async function repeatCheats(state: ChainState, cheats: BlockRecord['cheats']): Promise<void> {
  for (const cheat of cheats) {
    try {
      await applyCheats(state, [cheat])
      state.history.cheats.push(cheat)
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
    }
  }
}

async function injectAll(state: ChainState, raws: readonly Hex[]): Promise<number> {
  let lost = 0
  for (const raw of raws) if (!(await state.mempool.inject(raw))) lost += 1
  return lost
}
