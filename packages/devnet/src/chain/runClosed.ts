import type { ChainState } from './chainState.ts'

/** Runs a job that goes back in time. Callers wait meanwhile, and what they had under way is finished first, so nobody sees it half done. */
export function runClosed<T>(state: ChainState, job: () => Promise<T>): Promise<T> {
  return state.exclusive.runClosed(async () => {
    await state.edr.idle()
    await state.mempool.settled()
    await state.mempool.prune()
    return job()
  })
}
