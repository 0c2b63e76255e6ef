import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { Address } from '@bezel/protocol'
import type { Delegates } from '../agents/delegates.ts'

/** How old a look at a delegation that nobody uses may get. */
const LOOK_AGAIN_MS = 30_000

/** One batch of calls to the node. */
const LOOKS_PER_ROUND = 100

/** Looks at those of these traders whose last look is too old, a batch at a time. Whom it looked at. */
export type LookAgain = (traders: Iterable<Address>) => Promise<readonly Address[]>

export function createLookAgain(delegates: Pick<Delegates, 'refresh'>, now: () => number): LookAgain {
  /** Oldest look first. */
  const lookedAtMs = new Map<Address, number>()

  /** Those who were never looked at, then those whose look is the oldest, so that everybody has a turn. */
  function dueOf(traders: ReadonlySet<Address>, nowMs: number): Address[] {
    const due: Address[] = []
    for (const trader of traders) if (!lookedAtMs.has(trader)) due.push(trader)
    for (const [trader, atMs] of lookedAtMs) {
      if (!traders.has(trader)) lookedAtMs.delete(trader)
      else if (nowMs - atMs >= LOOK_AGAIN_MS) due.push(trader)
    }
    return due.slice(0, LOOKS_PER_ROUND)
  }

  return async (traders) => {
    const nowMs = now()
    const due = dueOf(new Set(traders), nowMs)
    if (due.length === 0) return due
    for (const trader of due) {
      lookedAtMs.delete(trader)
      lookedAtMs.set(trader, nowMs)
    }
    try {
      await delegates.refresh(due)
    } catch (error) {
      // The readiness of its chain reports a node that is away.
      if (!(error instanceof NodeUnavailableError)) throw error
    }
    return due
  }
}
