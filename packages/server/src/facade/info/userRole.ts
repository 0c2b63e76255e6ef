import type { Address, OrderId } from '@bezel/protocol'
import { listOrders } from '../../store/orderStore.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { agentsInForce } from './extraAgents.ts'
import { lower, userOf, type InfoRequest } from './infoRequest.ts'

const AFTER_ALL = String(Number.MAX_SAFE_INTEGER) as OrderId

/** An agent of somebody, a trader who was seen here, or nobody. */
export async function userRole(request: InfoRequest, reads: FacadeReads): Promise<unknown> {
  const address = userOf(request)
  const agent = reads.registry.agent(reads.chain, address)
  if (agent !== undefined && !agent.revoked && agent.trader !== address) {
    return { role: 'agent', data: { user: lower(agent.trader) } }
  }
  return { role: (await isTrader(reads, address)) ? 'user' : 'missing' }
}

async function isTrader(reads: FacadeReads, address: Address): Promise<boolean> {
  if (reads.positionsOf(address).length > 0 || agentsInForce(reads, address).length > 0) return true
  return (await listOrders(reads.sql, reads.chain, address, AFTER_ALL, 1)).length > 0
}
