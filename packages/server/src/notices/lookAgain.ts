import type { Address } from '@bezel/protocol'
import type { Delegates } from '../agents/delegates.ts'
import { NodeUnavailableError } from '../chain/rpcOutcome.ts'

/** How old a look at a delegation that nobody uses may get. */
const LOOK_AGAIN_MS = 30_000

/** One batch of calls to the node. */
const LOOKS_PER_ROUND = 100

/** Looks at those of these traders whose last look is too old, a batch at a time. Whom it looked at. */
export type LookAgain = (traders: Iterable<Address>) => Promise<readonly Address[]>

export function createLookAgain(delegates: Pick<Delegates, 'refresh'>, now: () => number): LookAgain {
  const lookedAtMs = new Map<Address, number>()
  return async (traders) => {
    const nowMs = now()
    const due: Address[] = []
    for (const trader of traders) {
      if (due.length >= LOOKS_PER_ROUND) break
      if (nowMs - (lookedAtMs.get(trader) ?? Number.NEGATIVE_INFINITY) >= LOOK_AGAIN_MS) due.push(trader)
    }
    if (due.length === 0) return due
    for (const trader of due) lookedAtMs.set(trader, nowMs)
    try {
      await delegates.refresh(due)
    } catch (error) {
      // The readiness of its chain reports a node that is away.
      if (!(error instanceof NodeUnavailableError)) throw error
    }
    return due
  }
}
