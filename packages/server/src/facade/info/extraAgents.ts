import type { Address } from '@bezel/protocol'
import { isExpired, type AgentRecord } from '../../trading/agentRecord.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { lower, userOf, type InfoRequest } from './infoRequest.ts'

/** Of an agent that does not expire: the end of the year 9999. */
const NEVER_MS = 253_402_300_799_000

/** Who may trade for a user. */
export function extraAgents(request: InfoRequest, reads: FacadeReads): unknown {
  return agentsInForce(reads, userOf(request)).map(({ agent, name, scope }) => ({
    address: lower(agent),
    name,
    validUntil: scope.expiresAt ?? NEVER_MS,
  }))
}

export function agentsInForce({ registry, chain, now }: FacadeReads, trader: Address): AgentRecord[] {
  const isInForce = (record: AgentRecord): boolean => !record.revoked && !isExpired(record, now())
  return registry.agentsOf(chain, trader).filter(isInForce)
}
