import type { Address } from '@bezel/protocol'
import { outOfForce } from '../../agents/agentRefusals.ts'
import type { AgentRecord } from '../../trading/agentRecord.ts'
import type { TradingParts } from './exchangeParts.ts'

/**
 * In whose name the service finishes by itself what a trader began through the facade: the agent that began it, or, when that is gone, another one of
 * the same trader. `undefined` when the trader has none left that may act.
 */
export function facadeAgent(
  { registry, orders, now }: TradingParts,
  of: { readonly trader: Address; readonly agent: Address | null },
): AgentRecord | undefined {
  const mayAct = registry
    .agentsOf(orders.chain.slug, of.trader)
    .filter((record) => record.scope.permissions === 'trade' && outOfForce(record, now()) === undefined)
    .filter(({ mode, agent }) => mode === 'relayed' || agent === of.trader)
  return mayAct.find(({ agent }) => agent === of.agent) ?? mayAct[0]
}
