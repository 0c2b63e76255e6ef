import type { Address, OrderId } from '@bezel/protocol'
import { listOrders } from '../../store/orderStore.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { agentsInForce } from './extraAgents.ts'
import { lower, userRequest, type UserRequest } from './infoRequest.ts'
import { defineInfo } from './infoType.ts'

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
