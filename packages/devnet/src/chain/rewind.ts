import type { Hex } from 'viem'
import { toMinedBlock, type ChainLog, type MinedBlock, type NodeBlock } from './block.ts'
import type { ChainState } from './chainState.ts'
import {
  dropPointsAfter,
  type BlockRecord,
  type Cheat,
  type RestorePoint,
  addPoint,
  takeRecordsAbove,
  type UserSnapshot,
} from './history.ts'
import { toQuantity, toWord } from './jsonRpc.ts'

/** Reads the logs above a height in the form of their removal: newest first. Called before the blocks are gone. */
export async function removedLogsAbove(state: ChainState, height: number): Promise<ChainLog[]> {
  if (height >= state.head.number) return []
  const range = { fromBlock: toQuantity(height + 1), toBlock: toQuantity(state.head.number) }
  const logs = await state.edr.call<ChainLog[]>('eth_getLogs', [range])
  return logs.toReversed().map((log) => ({ ...log, removed: true }))
}

/** Reverts EDR to a restore point, with an empty mempool. The point can be used again. */
async function restorePoint(state: ChainState, point: RestorePoint): Promise<void> {
  const reverted = await state.edr.call<boolean>('evm_revert', [point.snapshotId])
  if (!reverted) throw new Error(`EDR lost snapshot ${point.snapshotId} of block ${point.height}`)
  dropPointsAfter(state.history, point)
  // EDR restores the transactions that were waiting then; the caller decides what waits now.
  const pending = await state.edr.call<{ hash: Hex }[]>('eth_pendingTransactions')
  for (const { hash } of pending) await state.edr.call('hardhat_dropTransaction', [hash])
  point.snapshotId = await state.edr.call<Hex>('evm_snapshot')
}

/** Rewinds to a block that is still recorded. The mempool is empty afterwards, and the records above the block stay. */
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

/**
 * Makes the following blocks differ from those that followed before, because EDR would repeat their hashes within the
 * same second.
 */
async function branchOff(state: ChainState): Promise<void> {
  state.rewinds += 1
  await state.edr.call('hardhat_setPrevRandao', [toWord(state.rewinds)])
}

export async function applyCheats(state: ChainState, cheats: readonly Cheat[]): Promise<void> {
  for (const { method, params } of cheats) await state.edr.call(method, params)
}

/** Reads the latest block for listeners. Its logs were published before, so it has none. */
export async function loadHead(state: Pick<ChainState, 'edr'>): Promise<MinedBlock> {
  return toMinedBlock(await state.edr.call<NodeBlock>('eth_getBlockByNumber', ['latest', false]), [], [])
}

async function replay(state: ChainState, record: BlockRecord): Promise<void> {
  await applyCheats(state, record.cheats)
  for (const raw of record.rawTransactions) await state.edr.call('eth_sendRawTransaction', [raw])
  await state.edr.call('hardhat_setPrevRandao', [record.prevRandao])
  await state.edr.call('evm_mine', [record.timestampS])
  const { hash } = await state.edr.call<NodeBlock>('eth_getBlockByNumber', ['latest', false])
  if (hash !== record.hash)
    throw new Error(`block ${record.number} came out as ${hash} when mined again, not ${record.hash}`)
}

/**
 * Runs a job that goes back in time. Callers wait, and their requests under way are finished first, so that nobody sees
 * it half done.
 */
export function runClosed<T>(state: ChainState, job: () => Promise<T>): Promise<T> {
  return state.exclusive.runClosed(async () => {
    await state.edr.idle()
    await state.mempool.settled()
    await state.mempool.prune()
    return job()
  })
}

/** Answers evm_snapshot: remembers the chain, its waiting transactions and its time under an id of our own. */
export function takeUserSnapshot(state: ChainState): Promise<Hex> {
  return runClosed(state, async () => {
    const snapshotId = await state.edr.call<Hex>('evm_snapshot')
    state.userSnapshots += 1
    const id = toQuantity(state.userSnapshots)
    const user = { id, pending: state.mempool.list(), cheats: [...state.history.cheats], clock: state.clock.save() }
    addPoint(state.history, { snapshotId, height: state.head.number, user })
    return id
  })
}

/** Answers evm_revert: goes back to a snapshot and uses it up with all later ones. Returns false when there is none. */
export function revertToUserSnapshot(state: ChainState, id: Hex): Promise<boolean> {
  return runClosed(state, async () => {
    const point = state.history.points.find(({ user }) => user?.id === id)
    if (point?.user === undefined) return false
    await revertTo(state, point, point.user)
    return true
  })
}

async function revertTo(state: ChainState, point: RestorePoint, user: UserSnapshot): Promise<void> {
  const removedLogs = await removedLogsAbove(state, point.height)
  const before = state.head
  state.mempool.takeAll()
  await restorePoint(state, point)
  state.history.points.pop()
  takeRecordsAbove(state.history, point.height)
  state.history.cheats = [...user.cheats]
  state.clock.restore(user.clock)
  for (const raw of user.pending) await state.mempool.inject(raw)
  await branchOff(state)
  state.head = await loadHead(state)
  if (state.head.hash !== before.hash) state.blockListeners.tell({ ...state.head, removedLogs })
}
