import { ApiError, formatDecimal, parseDecimal, scaleDecimalTruncated, type AgentScope } from '@bezel/protocol'
import { LEVERAGE_DECIMALS, USD_DECIMALS } from './plan/decimals.ts'
import type { ScopedAction } from './plan/plan.ts'

/** What an agent's scope says to an action, in this order: its market, its leverage. Whether the agent may act at all was asked before. */
export function requireScope({ markets, maxLeverage }: AgentScope, { market, leverage }: ScopedAction): void {
  if (markets !== 'all' && !markets.includes(market)) {
    throw new ApiError('SCOPE_MARKET_NOT_ALLOWED', `The agent's scope does not name ${market}.`, { market, markets })
  }
  if (maxLeverage === null || leverage === null) return
  if (leverage <= limitUnits(maxLeverage, LEVERAGE_DECIMALS)) return
  const details = { leverage: formatDecimal(leverage, LEVERAGE_DECIMALS), maxLeverage }
  const message = `A leverage of ${details.leverage} is above the ${maxLeverage} of the agent's scope.`
  throw new ApiError('SCOPE_LEVERAGE_EXCEEDED', message, details)
}

/** `spentUsd` (1e18) is what the agent opened today, UTC. An action that opens nothing is let through however much that is. */
export function requireSpendCap({ dailySpendCapUsd }: AgentScope, spentUsd: bigint, { spendUsd }: ScopedAction): void {
  if (dailySpendCapUsd === null || spendUsd === 0n) return
  if (spentUsd + spendUsd <= limitUnits(dailySpendCapUsd, USD_DECIMALS)) return
  const details = {
    notionalUsd: formatDecimal(spendUsd, USD_DECIMALS),
    spentUsd: formatDecimal(spentUsd, USD_DECIMALS),
    dailySpendCapUsd,
  }
  const message = `${details.notionalUsd} USD on top of the ${details.spentUsd} opened today is above the agent's daily ${dailySpendCapUsd} USD.`
  throw new ApiError('SCOPE_SPEND_CAP_EXCEEDED', message, details)
}

/** What is compared with it is whole units, so cutting off further places of a limit changes no answer. */
function limitUnits(limit: string, decimals: number): bigint {
  const value = parseDecimal(limit)
  if (value === undefined) throw new RangeError(`${limit} is no limit`)
  return scaleDecimalTruncated(value, decimals)
}
