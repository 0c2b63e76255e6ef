import type { Address } from '@bezel/protocol'
import type { OpenChainAccounts } from './accounts/openChainAccounts.ts'
import type { LivePositions } from './accounts/positions/livePositions.ts'
import type { Relayer } from './facade/relayer/startRelayer.ts'
import type { CommitChanges, RightsChange } from './journal/commitBody.ts'
import type { ChainCommits } from './journal/commits.ts'
import type { Base } from './openBase.ts'
import type { TradeTape } from './stream/topics/publicSources.ts'

// Everything that happens in a process because something was committed, by this node or another.

/** The parts of a chain that commits change. */
interface CommitFollowers {
  readonly base: Pick<Base, 'orderCounts' | 'waits'>
  readonly positions: LivePositions
  readonly tape: TradeTape
  readonly accounts: OpenChainAccounts
}

/** Updates the in-memory state after every commit of any node, in this order. */
export function followCommits(commits: ChainCommits, of: CommitFollowers): void {
  const { orderCounts, waits } = of.base
  const follow = (
    apply: (changes: CommitChanges, number: number | undefined) => void,
    reload: () => Promise<void> = async () => {},
  ): void => commits.follow({ apply: ({ changes }, number) => (changes ? apply(changes, number) : undefined), reload })
  follow(({ positions }) => of.positions.apply(positions), of.positions.reload)
  follow(
    ({ chain, orders }, number) => orderCounts.apply(orders, { chain, number }),
    async () => orderCounts.restart(),
  )
  follow(waits.apply)
  follow(of.tape.apply)
  follow(({ cause, orders, positions }) => {
    // A commit caused by a request changes nothing on the chain.
    if (cause.block === null) return
    for (const { record } of [...orders, ...positions]) of.accounts.forget(record.trader)
  })
  commits.follow({
    apply: ({ isOwn, woken }) => (isOwn ? undefined : woken.forEach(of.accounts.noteTold)),
    reload: async () => {},
  })
}

/** Tells the relayer that sends what other nodes stored: actions, and agents that may not act any more. */
export function wakeRelayer(
  commits: Pick<ChainCommits, 'follow'>,
  relayer: Pick<Relayer, 'isSender' | 'wake' | 'burnRevoked'>,
  onError: (error: unknown) => void,
): void {
  commits.follow({
    apply({ isOwn, changes, rights }) {
      // Whoever commits here tells the relayer itself.
      if (isOwn || !relayer.isSender()) return
      if (changes?.cause.block === null && changes.orders.length > 0) relayer.wake()
      for (const trader of new Set(rights.flatMap(losersOf))) relayer.burnRevoked(trader).catch(onError)
    },
    reload: async () => relayer.wake(),
  })
}

/** Returns the traders for whom an agent may not trade any more. One whose time is over is found by the relayer. */
function losersOf(change: RightsChange): Address[] {
  if (change.kind === 'key') return []
  if (change.kind === 'gone') return 'agent' in change.gone ? [change.gone.trader] : []
  const { record, before } = change
  const isEnded = record.revoked || record.scope.permissions !== 'trade'
  const left = before === undefined || before.trader === record.trader ? [] : [before.trader]
  return isEnded ? [...left, record.trader] : left
}
