import { NodeUnavailableError } from '../ground/unavailable.ts'
import { ApiError, type Address } from '@bezel/protocol'
import { agentNotDelegated } from '../agents/agentRefusals.ts'
import type { ChainOrders } from './chainOrders.ts'
import { isOwnSender, senderOf, type SignedWrite } from './signedWrite.ts'

type DelegationPorts = Pick<ChainOrders, 'chain' | 'delegates'>

/**
 * Runs the part of a write that comes before the node is asked. In the order of checks an agent that is not the delegate is refused before
 * anything its request says, so another refusal waits for a look at the delegate; a request that passes pays for none.
 */
export async function beforeNode<Result>(
  orders: DelegationPorts,
  write: SignedWrite,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ApiError) await refuseUndelegated(orders, write)
    throw error
  }
}

/** Throws `AGENT_NOT_DELEGATED` as far as can be known: a node that is away refuses nobody what the chain is not needed for. */
export async function refuseUndelegated({ chain, delegates }: DelegationPorts, write: SignedWrite): Promise<void> {
  if (isOwnSender(write)) return
  if (await isDelegateIfKnown(delegates, write.agent.trader, senderOf(write))) return
  throw agentNotDelegated(chain, senderOf(write))
}

async function isDelegateIfKnown(
  delegates: ChainOrders['delegates'],
  trader: Address,
  sender: Address,
): Promise<boolean> {
  try {
    return await delegates.isDelegate(trader, sender)
  } catch (error) {
    if (error instanceof NodeUnavailableError) return true
    throw error
  }
}
