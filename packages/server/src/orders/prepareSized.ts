import { ApiError, CollateralPrice, withScales, type Address, type Price } from '@bezel/protocol'
import { isDeepStrictEqual } from 'node:util'
import { diamondCall } from '../chain/diamondCalls.ts'
import type { Alongside } from '../chain/prepareTransaction.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import type { Attempt, OrderRequest } from '../trading/orders/orderModel.ts'
import type { Plan, TradingContext } from '../trading/plan/plan.ts'
import type { PairOi, VolumeState } from '../trading/valuation/chainState.ts'
import { activeWindowIds } from '../trading/valuation/priceImpact.ts'
import type { ChainOrders } from './chainOrders.ts'
import type { TransactionAuthor } from './signedWrite.ts'

// Prepares what opens a trade. The collateral of a size depends on facts that other trades change at any moment: the
// recent volume of the pair and the price of the token, and on the trader's own terms, of which no event tells. A plan
// starts from what was last read; the round trip that simulates it reads those facts too, and when they call for
// another amount the transaction is made and simulated once more.

/** Returns the current inputs of the trading rules, with marks that stay the same when a plan is made again. */
export function fixedMarks(context: TradingContext): TradingContext {
  const marks = new Map<number, Price>()
  return {
    ...context,
    markOf(market) {
      const mark = marks.get(market.pairIndex) ?? context.markOf(market)
      marks.set(market.pairIndex, mark)
      return mark
    },
  }
}

/** The pair and the collateral that a size is traded in. */
type SizedIn = Pick<OrderRequest, 'pairIndex' | 'collateralIndex'>

/** A plan, and the way to make it again from fresher facts. */
export interface SizedPlan<Planned extends Plan> {
  readonly plan: Planned
  /** `null` for a plan in which no size has to be bought. */
  readonly sizedIn: SizedIn | null
  /** Inputs of `plan`, with fixed marks. */
  readonly context: TradingContext
  readonly planAt: (context: TradingContext) => Planned
}

/** Maximum number of round trips. Beyond it the pair trades so fast that no amount is exact for long. */
const MAX_ROUNDS = 3

/**
 * Makes and simulates the transaction of a plan, until its amount fits what the same round trip read of the chain.
 * Returns the plan that was kept, with its transaction and the inputs as last read. Throws the refusal of the last
 * plan.
 */
export async function prepareSized<Planned extends Plan>(
  orders: Pick<ChainOrders, 'chain' | 'terms'>,
  { agent: { trader } }: TransactionAuthor,
  { sizedIn, planAt, ...first }: SizedPlan<Planned>,
  prepare: (plan: Planned, alongside?: Alongside) => Promise<Attempt>,
): Promise<{ readonly plan: Planned; readonly attempt: Attempt; readonly context: TradingContext }> {
  let { plan, context } = first
  if (sizedIn === null) return { plan, attempt: await prepare(plan), context }
  for (let round = 1; ; round += 1) {
    const facts = readFacts(orders, context, { trader, ...sizedIn })
    const tried = await refusedOr(prepare(plan, facts))
    context = facts.apply()
    const next = planAt(context)
    if (isDeepStrictEqual(next.calls, plan.calls) || round === MAX_ROUNDS) {
      if (tried instanceof ApiError) throw tried
      return { plan, attempt: tried, context }
    }
    plan = next
  }
}

/** Returns the refusal of a simulation instead of throwing it: it may concern an amount that is not exact. */
async function refusedOr(preparing: Promise<Attempt>): Promise<Attempt | ApiError> {
  try {
    return await preparing
  } catch (error) {
    if (error instanceof ApiError && error.code === 'SIMULATION_REVERTED') return error
    throw error
  }
}

interface Facts extends Alongside {
  /** Returns the context with what was read. Throws before the read. */
  apply(): TradingContext
}

/** Reads what decides the cost of a size: the trader's terms, the pair's recent volume and the token's price. */
function readFacts(
  { chain: { diamond }, terms }: Pick<ChainOrders, 'chain' | 'terms'>,
  context: TradingContext,
  { trader, pairIndex, collateralIndex }: SizedIn & { readonly trader: Address },
): Facts {
  const { chain, moment } = context
  const volume = chain.volumes.get(pairIndex)
  const ids = volume === undefined ? [] : activeWindowIds(volume.settings, moment.timestampS)
  const impact = diamondCall(diamond, 'getUserPriceImpact', [trader, BigInt(pairIndex)])
  const price = diamondCall(diamond, 'getCollateralPriceUsd', [collateralIndex])
  const duration = volume?.settings.windowsDuration ?? 0
  const windows = diamondCall(diamond, 'getOiWindows', [duration, BigInt(pairIndex), ids.map(BigInt)])
  let read: TradingContext | undefined
  return {
    calls: [impact.call, price.call, ...(ids.length === 0 ? [] : [windows.call])],
    take([impactOutcome, priceOutcome, windowsOutcome]) {
      terms.learn(trader, pairIndex, impact.decode(impactOutcome!))
      const own = terms.of(trader, pairIndex)
      const priceUsd = CollateralPrice.of(price.decode(priceOutcome!))
      const found = ids.length === 0 ? [] : windows.decode(windowsOutcome!)
      const byId = new Map(found.map((window, at) => [ids[at]!, withScales<PairOi>(window)]))
      read = {
        ...context,
        termsOf: () => own,
        chain: withVolume(withTokenPrice(chain, collateralIndex, priceUsd), pairIndex, byId),
      }
    },
    apply() {
      if (read === undefined) throw new Error('nothing was read yet')
      return read
    },
  }
}

function withTokenPrice(chain: ChainMarkets, collateralIndex: number, priceUsd: CollateralPrice): ChainMarkets {
  const collaterals = chain.collaterals.map((collateral) =>
    collateral.index === collateralIndex ? { ...collateral, state: { ...collateral.state, priceUsd } } : collateral,
  )
  return { ...chain, collaterals }
}

function withVolume(chain: ChainMarkets, pairIndex: number, windows: VolumeState['windows']): ChainMarkets {
  const volume = chain.volumes.get(pairIndex)
  if (volume === undefined) return chain
  return { ...chain, volumes: new Map(chain.volumes).set(pairIndex, { ...volume, windows }) }
}
