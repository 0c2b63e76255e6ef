import type { OpenChainAccounts } from './accounts/openChainAccounts.ts'
import type { ChainBlock } from './chain/blocks.ts'
import type { DiamondWatch } from './chain/diamondWatch.ts'
import type { Finality } from './chain/finality.ts'
import type { Providers } from './chain/providers/providers.ts'
import type { ServedChain } from './chain/servedChain.ts'
import { tellState } from './follower/leaderState.ts'
import { openSharedFollower, type SharedFollower } from './follower/sharedFollower.ts'
import { startFollower, type Follower, type FollowerOptions } from './follower/startFollower.ts'
import {
  createMarketSteps,
  headAfter,
  marketsOfLeader,
  parseStep,
  type MarketSteps,
  type ToldBlock,
} from './follower/toldBlocks.ts'
import type { AccountLog } from './journal/accountLog.ts'
import type { ChainHead } from './journal/clock.ts'
import type { ChainCommits } from './journal/commits.ts'
import type { Leader } from './journal/roles.ts'
import type { ChainMarketData } from './market/openMarkets.ts'
import type { FollowerState } from './market/watchChainMarkets.ts'
import type { Base } from './openBase.ts'

/** A follower, which on one of several nodes may be that of another one. */
export type ChainFollower = Follower & Partial<Pick<SharedFollower, 'leaderState' | 'isTold'>>

/** Returns the state of the follower, as far as markets depend on it. */
export function followerState(follower: ChainFollower | undefined): FollowerState {
  const reason = follower?.reason()
  if (reason === 'reorg_too_deep' || follower?.isTold?.() === false) return 'lost'
  return reason === 'chain_lagging' ? 'lagging' : 'following'
}

/** The parts of a chain that following it needs. */
interface FollowedParts {
  readonly chain: ServedChain
  readonly client: Providers
  readonly base: Base
  readonly market: ChainMarketData
  readonly head: ChainHead
  readonly finality: Finality
  readonly accountLog: AccountLog
  readonly commits: ChainCommits
  readonly accounts: OpenChainAccounts
  readonly diamondWatch: DiamondWatch
}

/** Opens the follower of a chain: of this node while it leads, otherwise what the store tells of another node's. */
export async function openFollower(of: FollowedParts, open: AsyncDisposableStack): Promise<ChainFollower> {
  const { chain, client, head, market } = of
  const { roles, store, now, log } = of.base
  const name = { role: 'follower', chain: chain.slug } as const
  if (roles.isAlone) {
    const onApplied = async (blocks: readonly ChainBlock[]): Promise<void> => {
      const noted = market.watch.note(blocks)
      noteAccounts(of.accounts, blocks)
      of.diamondWatch.noteChanges(blocks)
      of.diamondWatch.noteLogs(blocks)
      await of.diamondWatch.checked()
      await noted
    }
    const onUndone = market.watch.noteUndone
    const markets = market.watch.current
    const follower = followBlocks(of, { store, accountLog: of.accountLog, onApplied, onUndone, markets })
    open.defer(() => follower.close())
    // It leads for good, and says so.
    await roles.lead(name, open, () => undefined)
    return follower
  }
  const shared = openSharedFollower({ chain, client, store, head, markets: () => market.watch.current(), now, log })
  open.defer(() => shared.close())
  const steps = followSteps(of, shared)
  const onApplied = async (blocks: readonly ChainBlock[]): Promise<void> => {
    of.diamondWatch.noteLogs(blocks)
    await steps.settled()
    // Every node learns of changes from the steps, the own ones too.
    await of.diamondWatch.checked()
  }
  const lead = (leader: Leader): void => {
    const fenced = { store: leader.store, accountLog: leader.fencedLog(of.accountLog) }
    const markets = marketsOfLeader(market.watch.current, of.commits, steps)
    leader.open.defer(shared.lead(() => followBlocks(of, { ...fenced, onApplied, onUndone: steps.settled, markets })))
  }
  await roles.lead(name, open, lead, () => tellState(shared, of.diamondWatch))
  return shared
}

function followBlocks(
  of: FollowedParts,
  by: Pick<FollowerOptions, 'store' | 'accountLog' | 'onApplied' | 'onUndone' | 'markets'>,
): Follower {
  const { chain, client, head, finality } = of
  const { config, now, log } = of.base
  return startFollower({
    chain,
    client: client.followerClient(head.current),
    head,
    finality,
    ...by,
    now,
    log,
    startBlock: chain.startBlock,
    pollMs: config.headPollMs,
    signsOfChange: () => of.diamondWatch.stats().signsOfChange,
  })
}

/** Takes the steps of the follower into account, of this node or another, in the order of their commits. */
function followSteps({ commits, accounts, market, diamondWatch }: FollowedParts, shared: SharedFollower): MarketSteps {
  const steps = createMarketSteps(market.watch, commits)
  commits.follow({
    apply({ step: told }) {
      if (told === undefined) return
      const step = parseStep(told)
      shared.noteHead(headAfter(step), step.kind === 'undone' ? step.doubted : undefined)
      steps.take(step)
      if (step.kind !== 'applied') return
      noteAccounts(accounts, step.blocks)
      diamondWatch.noteChanges(step.blocks)
    },
    async reload() {
      steps.takeGap()
      diamondWatch.noteGap()
    },
  })
  return steps
}

/** Has the accounts read again that blocks may have changed without an event of the Diamond. */
function noteAccounts(
  accounts: Pick<OpenChainAccounts, 'noteSenders' | 'noteLogs'>,
  blocks: readonly (ChainBlock | ToldBlock)[],
): void {
  for (const { senders, logsBloom } of blocks) {
    accounts.noteSenders(senders)
    if (logsBloom !== undefined) accounts.noteLogs(logsBloom)
  }
}
