import type { Account, Address, AgentScope } from '@bezel/protocol'
import { agentAnswer } from '../agents/agentAnswer.ts'
import { isExpired, type AgentRecord } from '../trading/agentRecord.ts'
import type { ChainAgents } from '../agents/chainAgents.ts'
import type { Holdings } from './readHoldings.ts'

/** Agents that were revoked or have expired: an account has all there ever were, and shows the last of them. */
const MAX_PAST_AGENTS = 20

export type AccountSources = Pick<ChainAgents, 'chain' | 'registry' | 'relayer'> & {
  readonly delegates: Pick<ChainAgents['delegates'], 'known'>
}

/**
 * An account as REST, the stream and its events show it. Keys and agents have one order, so that accounts are the same exactly when their
 * JSON is.
 */
export function accountAnswer(
  { chain, relayer, registry, delegates }: AccountSources,
  trader: Address,
  holdings: Holdings,
  nowMs: number,
): Account {
  const { balances, feeTierMultiplier, referrer } = holdings
  // Another read may have looked since.
  const delegate = delegates.known(trader) ?? holdings.delegate
  const agents = shownAgents(registry.agentsOf(chain.slug, trader), nowMs).map((record) => {
    const { agent } = agentAnswer({ chain, relayer }, record, delegate, nowMs)
    return { ...agent, scope: inOrder(agent.scope) }
  })
  return { address: trader, balances, feeTierMultiplier, referrer, agents }
}

/** Those in force, and the last ones that were. */
function shownAgents(records: readonly AgentRecord[], nowMs: number): AgentRecord[] {
  const isOver = (record: AgentRecord): boolean => record.revoked || isExpired(record, nowMs)
  const past = new Set(records.filter(isOver).slice(0, -MAX_PAST_AGENTS))
  return records.filter((record) => !past.has(record))
}

/** A scope is kept with its keys as the trader's client wrote them. */
function inOrder({ markets, maxLeverage, dailySpendCapUsd, expiresAt, permissions }: AgentScope): AgentScope {
  return { markets, maxLeverage, dailySpendCapUsd, expiresAt, permissions }
}
