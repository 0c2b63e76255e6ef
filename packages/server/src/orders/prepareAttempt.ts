import type { Decimal, PreparedTransaction } from '@bezel/protocol'
import { agentNotDelegated } from '../agents/agentRefusals.ts'
import { prepareTransaction, type TokenDemand } from '../chain/prepareTransaction.ts'
import type { Attempt } from '../trading/orders/orderModel.ts'
import type { Plan, TradingContext } from '../trading/plan/plan.ts'
import { wrapCalls } from '../trading/plan/encodeCall.ts'
import type { ChainOrders } from './chainOrders.ts'
import { senderOf, type SignedWrite } from './signedWrite.ts'
import type { ServedChain } from '../chain/servedChain.ts'

/**
 * Makes the transaction of a plan for its sender and simulates it, in the write's single round trip. Its validity
 * starts with the node's answer.
 */
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

/**
 * Returns the tokens that the plan takes from the trader; `null` when it takes none, or the token is no longer listed.
 * Only serves to explain a failed simulation.
 */
function demandOf({ takes }: Plan, { chain }: TradingContext): TokenDemand | null {
  const collateral = chain.collaterals.find(({ index }) => index === takes?.collateralIndex)
  if (takes === null || collateral === undefined) return null
  const { symbol, address: token, decimals } = collateral
  return { symbol, token, decimals, amount: takes.amount }
}

/** Returns an attempt in the form in which the agent gets it, to sign and broadcast. */
export function transactionOf({ diamond, chainId }: ServedChain, attempt: Attempt): PreparedTransaction {
  const { calldata, gas, expiresAtMs } = attempt
  return { to: diamond, data: calldata, value: '0', chainId, gas, expiresAt: expiresAtMs }
}
