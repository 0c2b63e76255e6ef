import { type MinedBlock, type Listeners, toMinedBlock, type ChainLog, type NodeBlock } from './block.ts'
import type { ChainClock } from './chainClock.ts'
import type { EdrProvider } from './edrProvider.ts'
import type { Exclusive } from './exclusive.ts'
import { type History, addPoint, addRecord, checkpointDue } from './history.ts'
import type { Mempool } from './mempool.ts'

/** The state of one local chain. Only functions run by `exclusive` change it. */
export interface ChainState {
  readonly edr: EdrProvider
  readonly clock: ChainClock
  readonly mempool: Mempool
  readonly history: History
  readonly exclusive: Exclusive
  readonly blockListeners: Listeners<MinedBlock>
  head: MinedBlock
  /** Number of rewinds, which makes the blocks after each one different from all before. */
  rewinds: number
  /** Number of snapshots that callers took, and the id of the last one. */
  userSnapshots: number
}

/** Mines one block, records it and tells the listeners. Runs inside `exclusive`. */
export async function mineBlock(state: ChainState, removedLogs: readonly ChainLog[] = []): Promise<MinedBlock> {
  if (checkpointDue(state.history)) await takeCheckpoint(state)
  await state.edr.call('evm_mine', [state.clock.takeTimestampS(state.head.timestampS)])
  const block = await state.edr.call<NodeBlock>('eth_getBlockByNumber', ['latest', false])
  const rawTransactions = await state.mempool.takeMined(block.transactions)
  // A block without transactions has no logs, and most blocks are empty, so the question is saved.
  const logs =
    block.transactions.length === 0 ? [] : await state.edr.call<ChainLog[]>('eth_getLogs', [{ blockHash: block.hash }])
  const mined = toMinedBlock(block, logs, removedLogs)
  const { number, hash, timestampS } = mined
  addRecord(state.history, { number, hash, timestampS, prevRandao: block.mixHash, rawTransactions })
  state.head = mined
  state.blockListeners.tell(mined)
  return mined
}

async function takeCheckpoint(state: ChainState): Promise<void> {
  await state.mempool.prune()
  const snapshotId = await state.edr.call<`0x${string}`>('evm_snapshot')
  addPoint(state.history, { snapshotId, height: state.head.number, user: undefined })
}
