import type { Address } from '@bezel/protocol'
import type { AgentRecord } from '../trading/agentRecord.ts'

/** What a look at a trader's delegate means. */
export interface DelegationJudgement {
  /** The agent to remember as its delegate; `undefined` when it is none of this deployment. */
  readonly seen: Address | undefined
  /** Whom the chain no longer lets act, without its trader having said so here. */
  readonly lost: Address | undefined
  /** Who may act now, and was not seen to before. */
  readonly gained: Address | undefined
}

/** `before` is the agent that was remembered; `agentOf` gives an agent of this trader. */
export function judgeDelegation(of: {
  readonly before: Address | undefined
  readonly delegate: Address
  readonly agentOf: (agent: Address) => AgentRecord | undefined
}): DelegationJudgement {
  const { before, delegate, agentOf } = of
  const seen = isTrusted(agentOf(delegate)) ? delegate : undefined
  // A trader who revoked the agent here knows that it lost its place on the chain.
  const isLost = before !== undefined && before !== delegate && isTrusted(agentOf(before))
  return { seen, lost: isLost ? before : undefined, gained: seen === before ? undefined : seen }
}

function isTrusted(record: AgentRecord | undefined): boolean {
  return record !== undefined && !record.revoked
}
