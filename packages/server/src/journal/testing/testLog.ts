import type { ChainSlug } from '@bezel/protocol'
import type { Store } from '../../store/sql.ts'
import type { AccountLog, Changes, Journal } from '../accountLog.ts'
import { createAccountLog } from '../createAccountLog.ts'

/** A real log over a store; of the positions it tells the ids of those that changed and are open. */
export function openTestLog(
  store: Store,
  chain: ChainSlug,
  onCommit: (changes: Changes) => void = () => {},
  now: () => number = Date.now,
): AccountLog {
  return createAccountLog({
    chain,
    store,
    onCommit,
    onError: () => {},
    now,
    alsoKeep: async () => {},
    positionsText: (trader, changes) => {
      const ofTrader = changes.filter(({ record }) => record.trader === trader)
      return JSON.stringify(ofTrader.filter(({ after }) => after?.isOpen).map(({ record }) => record.id))
    },
  })
}

/** For a test in which nobody reads the log. */
export const NO_JOURNAL: Journal = { order: () => {}, position: () => {}, execution: () => {} }
