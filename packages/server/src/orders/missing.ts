import { ApiError, CollateralAmount, ERRORS, type Address, type Decimal, type Missing, type Usd } from '@bezel/protocol'
import type { Holdings } from '../accounts/readHoldings.ts'
import { agentNotDelegated, delegationTx, needsDelegation, outOfForce, readOnlyAgent } from '../agents/agentRefusals.ts'
import { approvalTx, lackOf, type HeldTokens, type TokenDemand } from '../chain/prepareTransaction.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import type { AgentRecord } from '../trading/agentRecord.ts'
import type { ScopedAction } from '../trading/plan/plan.ts'
import { requireScope, requireSpendCap } from '../trading/scope.ts'

// What a request lacks before it can succeed, with the refusal that it would get and the remedy.

/** Fields of what is no amount of a token. */
const NO_TOKENS = { collateral: null, needed: null, available: null }

/** Returns the missing delegation, as a list that is empty when the required address is the trader's delegate. */
export function missingDelegation(
  chain: ServedChain,
  agent: AgentRecord,
  { delegate, required }: { readonly delegate: Address; readonly required: Address },
): Missing[] {
  if (!needsDelegation(agent) || delegate === required) return []
  const { code, message } = agentNotDelegated(chain, required)
  const remedy = "The trader's wallet sends `transaction` once on this chain."
  return [{ kind: 'delegation', code, message, remedy, ...NO_TOKENS, transaction: delegationTx(chain, required) }]
}

/** Lists the rights that an action needs and the agent's scope does not give. */
export function missingScope(
  agent: AgentRecord,
  action: ScopedAction,
  { spentUsd, nowMs }: { readonly spentUsd: Usd; readonly nowMs: number },
): Missing[] {
  const { scope } = agent
  const refusals = [
    outOfForce(agent, nowMs),
    scope.permissions === 'read' ? readOnlyAgent() : undefined,
    refusalOf(() => requireScope(scope, action)),
    refusalOf(() => requireSpendCap(scope, spentUsd, action)),
  ]
  return refusals
    .filter((refusal) => refusal !== undefined)
    .map(({ code, message }) => ({
      kind: 'scope',
      code,
      message,
      remedy: ERRORS[code].remedy,
      ...NO_TOKENS,
      transaction: null,
    }))
}

function refusalOf(check: () => void): ApiError | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}

/** Returns what an account has of a token, as last read. */
export function heldIn({ balances }: Holdings, { symbol, decimals }: TokenDemand): HeldTokens {
  const found = balances.find(({ collateral }) => collateral === symbol)
  const units = (text: string | undefined): bigint =>
    // An unlimited allowance is longer than what `parseDecimal` takes.
    text === undefined ? 0n : CollateralAmount.parseTruncated(text as Decimal, decimals)
  return { balance: units(found?.balance), allowance: units(found?.allowance) }
}

/** Lists the balance and the allowance that are too small for what a request takes. */
export function missingTokens(chain: ServedChain, trader: Address, demand: TokenDemand, held: HeldTokens): Missing[] {
  const { symbol, decimals, amount, returned } = demand
  const { isPoor, isBarred } = lackOf(demand, held)
  const text = (units: bigint): Decimal => CollateralAmount.format(CollateralAmount.of(units), decimals)
  const code = 'SIMULATION_REVERTED'
  const missing: Missing[] = []
  if (isPoor) {
    const [needed, available] = [text(amount - returned), text(held.balance)]
    const message = `${needed} ${symbol} are needed, and the trader's balance is ${available}.`
    const remedy = `Pay ${text(amount - returned - held.balance)} ${symbol} or more into ${trader}.`
    missing.push({ kind: 'balance', code, message, remedy, collateral: symbol, needed, available, transaction: null })
  }
  if (isBarred) {
    const [needed, available] = [text(amount), text(held.allowance)]
    const message = `${needed} ${symbol} are needed, and the trader's allowance for the Diamond is ${available}.`
    const alone = isPoor ? ' It does not help alone: the balance is too small too.' : ''
    const remedy = `The trader's wallet sends \`transaction\`, which allows what is needed; a larger amount does too.${alone}`
    const transaction = approvalTx(chain, demand)
    missing.push({ kind: 'allowance', code, message, remedy, collateral: symbol, needed, available, transaction })
  }
  return missing
}
