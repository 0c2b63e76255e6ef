import type { ChainSlug } from '@bezel/protocol'
import type { Store } from '../../store/sql.ts'
import { type AccountLog, type Changes, type Journal, createAccountLog } from '../accountLog.ts'
import { createCommits } from '../commits.ts'

/** Opens a real log over a store. Its positions events hold the ids of the changed positions that are open. */
export function openTestLog(
  store: Store,
  chain: ChainSlug,
  onCommit: (changes: Changes) => void = () => {},
  now: () => number = Date.now,
): AccountLog {
  const commits = createCommits(store).of(chain)
  commits.follow({
    // Everything that an own commit changed is at hand.
    apply: ({ changes }) => (changes === undefined ? undefined : onCommit(changes as Changes & typeof changes)),
    reload: async () => {},
  })
  return createAccountLog({
    chain,
    store,
    commits,
    onError: () => {},
    now,
    alsoKeep: async () => {},
    positionsText: (_trader, changes) =>
      JSON.stringify(changes.filter(({ after }) => after?.isOpen).map(({ record }) => record.id)),
  })
}

/** A journal that ignores all changes. */
export const NO_JOURNAL: Journal = { order: () => {}, position: () => {}, execution: () => {}, step: () => {} }
