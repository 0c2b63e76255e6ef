import type { Agent } from '@bezel/sdk'
import { formatFields } from './formatFields.ts'
import { dateAndTime } from './shortTime.ts'
import type { Style } from './style.ts'

/** One agent and what it may do. */
export function agentFields({ agent, trader, name, status, mode, scope }: Agent, style: Style): string[] {
  return formatFields(
    [
      ['Agent', agent],
      ['Trader', trader],
      ['Name', name === '' ? null : name],
      ['Status', status],
      ['Mode', mode],
      ['May', scope.permissions === 'read' ? 'only read' : 'trade'],
      ['Markets', scope.markets === 'all' ? 'all' : scope.markets.join(', ')],
      ['Leverage', scope.maxLeverage === null ? 'no limit' : `up to ${scope.maxLeverage}x`],
      ['Daily cap', scope.dailySpendCapUsd === null ? 'no limit' : `${scope.dailySpendCapUsd} USD`],
      ['Expires', scope.expiresAt === null ? 'never' : `${dateAndTime(scope.expiresAt)} UTC`],
    ],
    style,
  )
}
