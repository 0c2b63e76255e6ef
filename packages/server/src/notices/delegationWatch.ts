import type { Address } from '@bezel/protocol'
import type { AgentRecord } from '../trading/agentRecord.ts'
import type { ChainAgents } from '../agents/chainAgents.ts'
import { loadDelegations } from '../store/delegationStore.ts'
import type { Store } from '../store/sql.ts'
import { judgeDelegation } from './judgeDelegation.ts'
import { createLookAgain } from './lookAgain.ts'
import { tellDelegation, type JudgedDelegation } from './tellDelegation.ts'

/** Tells traders of one chain that their agent is no longer the delegate. The chain emits no event of it, so it is looked for. */
export interface DelegationWatch {
  /** Looks at some, and tells what all looks since the last time found. */
  settle(): Promise<void>
  close(): void
}

type Agents = Pick<ChainAgents, 'chain' | 'registry' | 'delegates' | 'relayer'>

/** By trader: the agent that was last seen as its delegate. */
type Seen = Map<Address, Address>

/** Judged in one transaction; the rest follows in the next round. */
const MAX_PER_ROUND = 500

export function createDelegationWatch(of: {
  readonly agents: Agents
  readonly store: Store
  readonly now: () => number
}): DelegationWatch {
  const { agents, store, now } = of
  const { slug } = agents.chain
  const lookAgain = createLookAgain(agents.delegates, now)
  const { touched, close } = watchTouched(agents)
  /** Kept in the store, so that a change while the service is down is seen after it. */
  let seen: Seen | undefined

  async function keep(judged: readonly JudgedDelegation[], known: Seen): Promise<void> {
    if (judged.length === 0) return
    await store.transaction(async (sql) => {
      for (const judgement of judged) await tellDelegation(sql, slug, judgement, now())
    })
    for (const { trader, judgement } of judged) {
      if (judgement.seen === undefined) known.delete(trader)
      else known.set(trader, judgement.seen)
    }
  }

  return {
    async settle() {
      seen ??= await loadDelegations(store.read, slug)
      // Somebody else may have looked before this was listening.
      for (const trader of await lookAgain(seen.keys())) touched.add(trader)
      const due = new Set([...touched].slice(0, MAX_PER_ROUND))
      for (const trader of due) touched.delete(trader)
      try {
        await keep(judge(agents, due, seen), seen)
      } catch (error) {
        for (const trader of due) touched.add(trader)
        throw error
      }
    },
    close,
  }
}

/** Traders whose delegate, or whose agents, changed. */
function watchTouched({ chain, registry, delegates }: Agents): { touched: Set<Address>; close: () => void } {
  const touched = new Set<Address>()
  const ends = [
    delegates.onDelegate((trader) => touched.add(trader)),
    registry.onAgentChange((slug, trader) => {
      if (slug === chain.slug) touched.add(trader)
    }),
  ]
  return { touched, close: () => ends.forEach((end) => end()) }
}

/** What the last looks at these traders changed. */
function judge(agents: Agents, traders: Iterable<Address>, seen: Seen): JudgedDelegation[] {
  const { delegates } = agents
  const judged: JudgedDelegation[] = []
  for (const trader of traders) {
    const delegate = delegates.known(trader)
    if (delegate === undefined) continue
    const before = seen.get(trader)
    const agentOf = (sender: Address): AgentRecord | undefined => agentSending(agents, trader, sender)
    const judgement = judgeDelegation({ before, delegate, agentOf })
    if (judgement.seen !== before) judged.push({ trader, delegate, judgement })
  }
  return judged
}

/** The agent of this trader that acts through this address: itself, or one that the relayer sends for. */
function agentSending({ chain, registry, relayer }: Agents, trader: Address, sender: Address): AgentRecord | undefined {
  if (sender === relayer) {
    return registry.agentsOf(chain.slug, trader).find(({ mode, revoked }) => mode === 'relayed' && !revoked)
  }
  const record = registry.agent(chain.slug, sender)
  return record?.trader === trader ? record : undefined
}
