import { toMinedBlock } from './block.ts'
import type { ChainLog, MinedBlock, RpcBlock } from './block.ts'
import type { ChainState } from './chainState.ts'
import { dropPointsAfter } from './history.ts'
import type { BlockRecord, Cheat, RestorePoint } from './history.ts'
import { toQuantity, toWord } from './quantity.ts'
import type { Hex } from './quantity.ts'

/** The logs above a height as subscribers hear of their removal: newest first. Asked before the blocks are gone. */
export async function removedLogsAbove(state: ChainState, height: number): Promise<ChainLog[]> {
  if (height >= state.head.number) return []
  const range = { fromBlock: toQuantity(height + 1), toBlock: toQuantity(state.head.number) }
  const logs = await state.edr.call<ChainLog[]>('eth_getLogs', [range])
  return logs.toReversed().map((log) => ({ ...log, removed: true }))
}

/** Reverts EDR to a place, with an empty mempool. The place itself stays good for another time. */
export async function restorePoint(state: ChainState, point: RestorePoint): Promise<void> {
  const reverted = await state.edr.call<boolean>('evm_revert', [point.snapshotId])
  if (!reverted) throw new Error(`EDR lost snapshot ${point.snapshotId} of block ${point.height}`)
  dropPointsAfter(state.history, point)
  // EDR brings back the transactions that were waiting then; what should wait now is for the caller to say.
  const pending = await state.edr.call<{ hash: Hex }[]>('eth_pendingTransactions')
  for (const { hash } of pending) await state.edr.call('hardhat_dropTransaction', [hash])
  point.snapshotId = await state.edr.call<Hex>('evm_snapshot')
}

/** Goes back to a block that is still recorded, leaving the mempool empty and the records above it in place. */
export async function rewindTo(state: ChainState, height: number): Promise<void> {
  const { points, records } = state.history
  const point = points.findLast((candidate) => candidate.height <= height)
  if (point === undefined) throw new Error(`no snapshot at or below block ${height}`)
  await restorePoint(state, point)
  for (const record of records) {
    if (record.number > point.height && record.number <= height) await replay(state, record)
  }
  state.head = await loadHead(state)
  await branchOff(state)
}

/** Makes the blocks that follow differ from those that followed before; EDR would repeat their hashes within the same second. */
export async function branchOff(state: ChainState): Promise<void> {
  state.rewinds += 1
  await state.edr.call('hardhat_setPrevRandao', [toWord(state.rewinds)])
}

export async function applyCheats(state: ChainState, cheats: readonly Cheat[]): Promise<void> {
  for (const { method, params } of cheats) await state.edr.call(method, params)
}

/** The latest block as listeners know it. Its logs were told before, so there are none. */
export async function loadHead(state: Pick<ChainState, 'edr'>): Promise<MinedBlock> {
  return toMinedBlock(await state.edr.call<RpcBlock>('eth_getBlockByNumber', ['latest', false]), [], [])
}

async function replay(state: ChainState, record: BlockRecord): Promise<void> {
  await applyCheats(state, record.cheats)
  for (const raw of record.rawTransactions) await state.edr.call('eth_sendRawTransaction', [raw])
  await state.edr.call('hardhat_setPrevRandao', [record.prevRandao])
  await state.edr.call('evm_mine', [record.timestampS])
  const { hash } = await state.edr.call<RpcBlock>('eth_getBlockByNumber', ['latest', false])
  if (hash !== record.hash)
    throw new Error(`block ${record.number} came out as ${hash} when mined again, not ${record.hash}`)
}
