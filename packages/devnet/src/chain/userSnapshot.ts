import type { ChainState } from './chainState.ts'
import { addPoint, takeRecordsAbove } from './history.ts'
import type { RestorePoint, UserSnapshot } from './history.ts'
import { toQuantity } from './quantity.ts'
import type { Hex } from './quantity.ts'
import { branchOff, loadHead, removedLogsAbove, restorePoint } from './rewind.ts'
import { runClosed } from './runClosed.ts'

/** evm_snapshot: remembers the chain, its waiting transactions and its time under an id of our own. */
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

/** evm_revert: goes back to a snapshot, which is used up by it as all later ones are. False when there is no such snapshot. */
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
