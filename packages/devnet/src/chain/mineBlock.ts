import { toMinedBlock } from './block.ts'
import type { ChainLog, MinedBlock, RpcBlock } from './block.ts'
import type { ChainState } from './chainState.ts'
import { addPoint, addRecord, checkpointDue } from './history.ts'

/** Mines one block, records it and tells the listeners. Runs inside `exclusive`. */
export async function mineBlock(state: ChainState, removedLogs: readonly ChainLog[] = []): Promise<MinedBlock> {
  if (checkpointDue(state.history)) await takeCheckpoint(state)
  await state.edr.call('evm_mine', [state.clock.takeTimestampS(state.head.timestampS)])
  const block = await state.edr.call<RpcBlock>('eth_getBlockByNumber', ['latest', false])
  const rawTransactions = await state.mempool.takeMined(block.transactions)
  // Most blocks are empty, and a block without transactions has no logs: not worth a question.
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
