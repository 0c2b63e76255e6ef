import type { Decimal } from '@bezel/protocol'
import { agentNotDelegated } from '../agents/agentRefusals.ts'
import { prepareTransaction } from '../chain/prepare/prepareTransaction.ts'
import type { TokenDemand } from '../chain/prepare/tokenHolding.ts'
import type { Attempt } from '../trading/orders/orderModel.ts'
import type { Plan, TradingContext } from '../trading/plan/plan.ts'
import { wrapCalls } from '../trading/plan/wrapCalls.ts'
import type { ChainOrders } from './chainOrders.ts'
import { senderOf, type SignedWrite } from './signedWrite.ts'

/** Makes the transaction of a plan for whoever sends it and tries it: the one round trip of a write. Its time is that of the node's answer. */
export async function prepareAttempt(
  orders: ChainOrders,
  write: SignedWrite,
  plan: Plan,
  size: Decimal | null = null,
): Promise<Attempt> {
  const { chain, client, delegates, settings } = orders
  const { trader } = write.agent
  const sender = senderOf(write)
  const id = orders.newAttemptId()
  const { inner, data } = wrapCalls({ calls: plan.calls, trader, agent: sender, attemptId: id })
  const draft = { diamond: chain.diamond, trader, agent: sender, inner, data, takes: demandOf(plan, orders.trading()) }
  const askedAtMs = orders.now()
  const { gas } = await prepareTransaction(client, draft, (delegate) => {
    delegates.learn(trader, delegate, askedAtMs)
    if (delegate !== sender) throw agentNotDelegated(chain, sender)
  })
  const createdAtMs = orders.now()
  const validMs = plan.validity === 'market' ? settings.preparedMarketMs : settings.preparedRestingMs
  return {
    id,
    kind: plan.kind,
    sender,
    calldata: data,
    gas,
    createdAtMs,
    expiresAtMs: createdAtMs + validMs,
    size,
    submittedHash: null,
    submittedAtMs: null,
    isMismatch: false,
    withdrawnAtMs: null,
  }
}

/** A token that is no longer listed can't be explained; the simulation speaks for itself then. */
function demandOf({ takes }: Plan, { chain }: TradingContext): TokenDemand | null {
  const collateral = chain.collaterals.find(({ index }) => index === takes?.collateralIndex)
  if (takes === null || collateral === undefined) return null
  const { symbol, address: token, decimals } = collateral
  return { symbol, token, decimals, amount: takes.amount }
}
