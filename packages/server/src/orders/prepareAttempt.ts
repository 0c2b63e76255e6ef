import { ApiError, type Address, type Decimal, type PreparedTransaction } from '@bezel/protocol'
import { agentNotDelegated } from '../agents/agentRefusals.ts'
import {
  prepareTransaction,
  simulationReverted,
  type Alongside,
  type HeldTokens,
  type TokenDemand,
} from '../chain/prepareTransaction.ts'
import { hasReclaim, insertPositionAttempt, type PositionAttemptKind } from '../store/positionAttemptStore.ts'
import type { Sql } from '../store/sql.ts'
import type { Attempt } from '../trading/orders/orderModel.ts'
import type { Plan, TradingContext } from '../trading/plan/plan.ts'
import { wrapCalls } from '../trading/plan/encodeCall.ts'
import { pendingUpdateAnswer } from '../trading/positions/pendingUpdate.ts'
import type { LivePosition } from '../trading/positions/positionModel.ts'
import type { ChainOrders } from './chainOrders.ts'
import { senderOf, type TransactionAuthor } from './signedWrite.ts'
import type { ServedChain } from '../chain/servedChain.ts'

interface AttemptOptions {
  /** New size of an order that is replaced. Default `null`. */
  readonly size?: Decimal | null
  readonly alongside?: Alongside | undefined
  /** Receives what the trader has of the token that the plan takes. */
  readonly onTokens?: (held: HeldTokens) => void
}

/**
 * Makes the transaction of a plan for its sender and simulates it, in one round trip that may read more `alongside`.
 * Its validity starts with the node's answer.
 */
export async function prepareAttempt(
  orders: ChainOrders,
  write: TransactionAuthor,
  plan: Plan,
  { size = null, alongside, onTokens }: AttemptOptions = {},
): Promise<Attempt> {
  const { chain, client, delegates, settings } = orders
  const { trader } = write.agent
  const sender = senderOf(write)
  const id = orders.newAttemptId()
  const { inner, data } = wrapCalls({ calls: plan.calls, trader, agent: sender, attemptId: id })
  const { chainId, diamond } = chain
  const takes = demandOf(plan, orders.trading())
  const draft = { chainId, diamond, trader, agent: sender, inner, data, takes }
  const askedAtMs = orders.now()
  const onDelegate = (delegate: Address): void => {
    delegates.learn(trader, delegate, askedAtMs)
    if (delegate !== sender) throw agentNotDelegated(chain, sender)
  }
  await refuseSecondReclaim(orders, write, plan)
  const { gas } = await prepareTransaction(client, draft, { onDelegate, onTokens, alongside }).catch(
    (error: unknown) => {
      throw withPendingUpdate(error, plan, orders.trading())
    },
  )
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
    trustedUntilMs: null,
    isMismatch: false,
    withdrawnAtMs: null,
  }
}

/** Returns the tokens that the plan takes from the trader; `null` for none, or for a token that is not listed. */
export function demandOf({ takes }: Plan, { chain }: TradingContext): TokenDemand | null {
  const collateral = chain.collaterals.find(({ index }) => index === takes?.collateralIndex)
  if (takes === null || collateral === undefined) return null
  const { symbol, address: token, decimals } = collateral
  return { symbol, token, decimals, amount: takes.amount, returned: takes.returned ?? 0n }
}

/**
 * Refuses a relayed plan whose reclaim the relayer has sent already: transactions of one sender are mined one after the
 * other, so the second reclaim would fail.
 */
async function refuseSecondReclaim(
  { store, now, trading }: ChainOrders,
  { relay }: TransactionAuthor,
  plan: Plan,
): Promise<void> {
  for (const { position, pendingIndex } of relay === null ? [] : reclaimsOf(plan)) {
    const of = { positionId: position.record.id, pendingIndex, nowMs: now() }
    if (!(await hasReclaim(store.read, of))) continue
    const refusal = simulationReverted({ inner: plan.calls.at(-1)! }, { errorName: CONFLICT, text: null })
    throw withPendingUpdate(refusal, plan, trading())
  }
}

const CONFLICT = 'ConflictingPendingOrder'

/** Adds to a refusal for another request in the way which one it is, as far as it is known. */
function withPendingUpdate(error: unknown, { touches = [] }: Plan, { chain }: TradingContext): unknown {
  if (!(error instanceof ApiError) || error.details?.errorName !== CONFLICT) return error
  const position = touches.find(({ state }) => state.pendingUpdate !== null)
  if (position === undefined) return error
  const { trade, pendingUpdate } = position.state
  const decimals = chain.collaterals.find(({ index }) => index === trade.collateralIndex)?.decimals ?? 0
  const details = {
    ...error.details,
    positionId: position.record.id,
    pendingUpdate: pendingUpdateAnswer(pendingUpdate, decimals),
  }
  return new ApiError(error.code, error.message, details)
}

/** Returns the timed-out changes that a plan reclaims. */
function reclaimsOf({ touches = [] }: Plan): { readonly position: LivePosition; readonly pendingIndex: number }[] {
  return touches.flatMap((position) => {
    const { pendingUpdate } = position.state
    return pendingUpdate?.status === 'timed_out' ? [{ position, pendingIndex: pendingUpdate.pendingIndex }] : []
  })
}

/**
 * Stores what recognises the requests of an attempt, one row for each position that it changes; for an attempt that
 * only reclaims, one for each reclaim.
 */
export async function keepPositionAttempts(
  sql: Sql,
  plan: Plan,
  { id, sender, expiresAtMs }: Attempt,
  kind: PositionAttemptKind,
): Promise<void> {
  const reclaims = new Map(reclaimsOf(plan).map(({ position, pendingIndex }) => [position, pendingIndex]))
  for (const position of plan.touches ?? []) {
    const pendingIndex = reclaims.get(position) ?? null
    if (kind === 'reclaim' && pendingIndex === null) continue
    await insertPositionAttempt(sql, { id, positionId: position.record.id, kind, sender, pendingIndex, expiresAtMs })
  }
}

/** Returns an attempt in the form in which the agent gets it, to sign and broadcast. */
export function transactionOf({ diamond, chainId }: ServedChain, attempt: Attempt): PreparedTransaction {
  const { calldata, gas, expiresAtMs } = attempt
  return { to: diamond, data: calldata, value: '0', chainId, gas, expiresAt: expiresAtMs }
}
