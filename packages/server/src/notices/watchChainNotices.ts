import type { ChainSlug } from '@bezel/protocol'
import { AGENT_NOTICE_TYPES, agentNotice } from './agentNotices.ts'
import { createDelegationWatch } from './delegationWatch.ts'
import { PAUSE_NOTICE_TYPES, pauseNotice } from './pauseNotice.ts'
import { createStandingNotices } from './standingNotices.ts'
import type { NoticesOptions } from './startNotices.ts'

/** What one chain has to tell that comes with no event: a pause, agents that expire, delegations that are lost. */
export interface ChainNotices {
  settle(): Promise<void>
  close(): void
}

export function watchChainNotices(
  chain: ChainSlug,
  { agentsOf, marketsOf, store, now }: Pick<NoticesOptions, 'agentsOf' | 'marketsOf' | 'store' | 'now'>,
): ChainNotices {
  const agents = agentsOf(chain)
  const pauses = createStandingNotices({ store, chain, types: PAUSE_NOTICE_TYPES })
  const expiries = createStandingNotices({ store, chain, types: AGENT_NOTICE_TYPES })
  const delegations = createDelegationWatch({ agents, store, now })

  async function settlePause(): Promise<void> {
    const markets = marketsOf(chain)
    // Before the first look what was told last stands.
    if (markets === undefined) return
    const notice = pauseNotice(chain, markets.tradingActivated, now())
    await pauses.settle(notice === undefined ? [] : [notice])
  }

  async function settleExpiries(): Promise<void> {
    const nowMs = now()
    const told = agents.registry.agentsOn(chain).map((record) => agentNotice(record, nowMs))
    await expiries.settle(told.filter((notice) => notice !== undefined))
  }

  return {
    async settle() {
      await settlePause()
      await settleExpiries()
      await delegations.settle()
    },
    close: delegations.close,
  }
}
