import { ApiError, DAY_MS, Leverage, parseDecimal, Usd, type AgentScope, type Scale } from '@bezel/protocol'
import { shortList } from '../ground/shortList.ts'
import type { ScopedAction } from './plan/plan.ts'

/**
 * Throws when an agent's scope forbids an action: first by its market, then by its leverage. The caller has already
 * checked that the agent is in force.
 */
export function requireScope({ markets, maxLeverage }: AgentScope, { market, leverage }: ScopedAction): void {
  if (markets !== 'all' && !markets.includes(market)) {
    const message = `The agent's scope does not name ${market}; it names ${shortList(markets)}.`
    throw new ApiError('SCOPE_MARKET_NOT_ALLOWED', message, { market, markets })
  }
  if (maxLeverage === null || leverage === null) return
  if (leverage <= limitUnits(maxLeverage, Leverage)) return
  const details = { leverage: Leverage.format(leverage), maxLeverage }
  const message = `A leverage of ${details.leverage} is above the ${maxLeverage} of the agent's scope.`
  throw new ApiError('SCOPE_LEVERAGE_EXCEEDED', message, details)
}

/**
 * Throws when an action exceeds the agent's daily cap. `spentUsd` is what the agent opened today (UTC). An action that
 * opens nothing always passes.
 */
export function requireSpendCap(
  { dailySpendCapUsd }: AgentScope,
  spentUsd: Usd,
  { spendUsd }: Pick<ScopedAction, 'spendUsd'>,
): void {
  if (dailySpendCapUsd === null || spendUsd === 0n) return
  if (spentUsd + spendUsd <= limitUnits(dailySpendCapUsd, Usd)) return
  const details = {
    notionalUsd: Usd.format(spendUsd),
    spentUsd: Usd.format(spentUsd),
    dailySpendCapUsd,
  }
  const message = `${details.notionalUsd} USD on top of the ${details.spentUsd} opened today is above the agent's daily ${dailySpendCapUsd} USD.`
  throw new ApiError('SCOPE_SPEND_CAP_EXCEEDED', message, details)
}

/**
 * Parses a limit. The compared values are whole units, so truncating further decimals of the limit changes no result.
 */
function limitUnits<Value extends bigint>(limit: string, { parseTruncated }: Scale<Value>): Value {
  const value = parseDecimal(limit)
  if (value === undefined) throw new RangeError(`${limit} is no limit`)
  return parseTruncated(value)
}

/** Returns the whole days since the epoch, in UTC. */
export function utcDayOf(timestampMs: number): number {
  return Math.floor(timestampMs / DAY_MS)
}
