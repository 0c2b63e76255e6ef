import { AGENT_AUTHORIZATION_FIELDS, type AgentScope } from '@bezel/protocol/wire'
import type { SigningDomain, TypedData } from './signer.ts'

export interface AgentAuthorization {
  readonly agent: `0x${string}`
  readonly name: string
  readonly scope: AgentScope
  /** Epoch milliseconds; newer than that of the last one for this agent. */
  readonly timestamp: number
}

/** What a trader signs to authorise an agent: `all` markets are `*`, a list is joined by commas, null is empty or 0. */
export function agentAuthorizationTypedData(domain: SigningDomain, authorization: AgentAuthorization): TypedData {
  const { agent, name, scope, timestamp } = authorization
  return {
    domain,
    primaryType: 'AgentAuthorization',
    types: { AgentAuthorization: AGENT_AUTHORIZATION_FIELDS },
    message: {
      agent,
      name,
      markets: scope.markets === 'all' ? '*' : scope.markets.join(','),
      maxLeverage: scope.maxLeverage ?? '',
      dailySpendCapUsd: scope.dailySpendCapUsd ?? '',
      expiresAt: BigInt(scope.expiresAt ?? 0),
      permissions: scope.permissions,
      timestamp: BigInt(timestamp),
    },
  }
}
