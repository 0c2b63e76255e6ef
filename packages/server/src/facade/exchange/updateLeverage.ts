import { Leverage, Usd } from '@bezel/protocol'
import { saveLeverage } from '../../store/facadeLeverageStore.ts'
import { requireLeverage } from '../../trading/plan/planOpening.ts'
import { requireScope } from '../../trading/scope.ts'
import type { ExchangeAction } from '../signing/envelope.ts'
import { OK_DEFAULT, type ExchangeAnswer } from './exchangeAnswer.ts'
import type { RunAction } from './exchangeParts.ts'
import { assetAt, booleanAt, integerAt } from './fields.ts'
import { tradedCoin } from './marketView.ts'

/**
 * Chooses the leverage of the trader's next orders in a coin; open positions keep theirs. Positions are isolated even
 * when cross margin is asked for, because most clients ask for it by default.
 */
export function updateLeverage(action: ExchangeAction): RunAction<ExchangeAnswer> {
  const asset = assetAt(action.asset, 'action.asset')
  const leverage = integerAt(action.leverage, 'action.leverage')
  booleanAt(action.isCross, 'action.isCross')
  return async ({ parts, agent }) => {
    const { market } = tradedCoin(parts.orders.trading(), asset)
    const units = Leverage.of(BigInt(leverage) * Leverage.one)
    requireScope(agent.scope, { market: market.symbol, leverage: units, spendUsd: Usd.zero })
    requireLeverage(units, market.minLeverage, market.maxLeverage)
    const key = { chain: agent.chain, trader: agent.trader, pairIndex: market.pairIndex }
    await parts.store.transaction((sql) => saveLeverage(sql, key, leverage))
    return OK_DEFAULT
  }
}
