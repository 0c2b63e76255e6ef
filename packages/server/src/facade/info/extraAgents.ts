import type { Address, OrderId } from '@bezel/protocol'
import { isExpired, type AgentRecord } from '../../trading/agentRecord.ts'
import { listOrders } from '../../store/orderStore.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { lower, userRequest, type UserRequest } from './infoRequest.ts'
import { defineInfo } from './infoType.ts'

/** An agent that may trade for a user. */
interface ExtraAgent {
  readonly address: string
  readonly name: AgentRecord['name']
  /** Epoch ms. */
  readonly validUntil: number
}

/** The end of the year 9999, for an agent that does not expire. */
const NEVER_MS = 253_402_300_799_000

/** The agents that may trade for a user. */
export const extraAgents = defineInfo<UserRequest, readonly ExtraAgent[]>({
  parse: userRequest,
  answer: ({ user }, reads) => extraAgentsOf(reads, user),
})

export async function extraAgentsOf(reads: FacadeReads, user: Address): Promise<ExtraAgent[]> {
  return (await agentsInForce(reads, user)).map(({ agent, name, scope }) => ({
    address: lower(agent),
    name,
    validUntil: scope.expiresAt ?? NEVER_MS,
  }))
}

/**
 * Returns the trader's agents in force. One that is only claimed is left out, because a stranger who learns its address
 * could claim it first.
 */
async function agentsInForce({ registry, chain, now }: FacadeReads, trader: Address): Promise<AgentRecord[]> {
  const isInForce = (record: AgentRecord): boolean =>
    record.standing !== 'claimed' && !record.revoked && !isExpired(record, now())
  return (await registry.agentsOf(chain, trader)).filter(isInForce)
}

type UserRole =
  { readonly role: 'agent'; readonly data: { readonly user: string } } | { readonly role: 'user' | 'missing' }

const AFTER_ALL = String(Number.MAX_SAFE_INTEGER) as OrderId

/** The role of an address: an agent, a trader known here, or neither. */
export const userRole = defineInfo<UserRequest, UserRole>({
  parse: userRequest,
  async answer({ user }, reads) {
    const agent = await reads.registry.findAgent(reads.chain, user)
    if (agent !== undefined && !agent.revoked && agent.trader !== user) {
      return { role: 'agent', data: { user: lower(agent.trader) } }
    }
    return { role: (await isTrader(reads, user)) ? 'user' : 'missing' }
  },
})

async function isTrader(reads: FacadeReads, address: Address): Promise<boolean> {
  if (reads.positionsOf(address).length > 0 || (await agentsInForce(reads, address)).length > 0) return true
  return (await listOrders(reads.sql, reads.chain, address, AFTER_ALL, 1)).length > 0
}
