import { CancelReason, PendingOrderType } from '@bezel/protocol'
import type { WorldEvent } from '../world.ts'

/** Counts how often each thing happened. */
export type Coverage = {
  count(what: string): void
  /** Counts an event: executions and refusals by kind. */
  countEvent(event: WorldEvent): void
  /** Returns the entries of a list that never happened. */
  missing(wanted: readonly string[]): string[]
  /** Returns one line per group. The group is the first word of an entry. */
  lines(): string[]
}

const REASONS = new Map(Object.entries(CancelReason).map(([name, value]) => [value as number, name]))
const ORDER_TYPES = new Map(Object.entries(PendingOrderType).map(([name, value]) => [value as number, name]))

export function orderTypeName(orderType: number): string {
  return ORDER_TYPES.get(orderType) ?? `order type ${orderType}`
}

export function createCoverage(): Coverage {
  const counts = new Map<string, number>()
  const coverage: Coverage = {
    count: (what) => void counts.set(what, (counts.get(what) ?? 0) + 1),
    countEvent(event) {
      const what = describe(event)
      if (what !== undefined) coverage.count(what)
      const reason = refusalOnPosition(event)
      if (reason !== undefined) coverage.count(refused('anything on a position', reason))
      if (isBeyondCollateral(event)) coverage.count('paid more than twice the collateral')
    },
    missing: (wanted) => wanted.filter((what) => !counts.has(what)),
    lines() {
      const sorted = [...counts].toSorted(([a], [b]) => a.localeCompare(b))
      const groups = Map.groupBy(sorted, ([what]) => what.split(' ', 1)[0]!)
      return [...groups].map(([word, entries]) => {
        const list = entries.map(([what, times]) => `${what.slice(word.length + 1)} ${times}`)
        return `${word}: ${list.join(', ')}`
      })
    },
  }
  return coverage
}

function describe(event: WorldEvent): string | undefined {
  switch (event.eventName) {
    case 'MarketExecuted':
      return `executed ${event.args.open ? 'MARKET_OPEN' : 'MARKET_CLOSE'}`
    case 'LimitExecuted':
      return `executed ${orderTypeName(event.args.orderType)} ${event.args.exactExecution ? 'exactly' : 'at the open'}`
    case 'MarketOpenCanceled':
      return refused('MARKET_OPEN', event.args.cancelReason)
    case 'MarketCloseCanceled':
      return refused('MARKET_CLOSE', event.args.cancelReason)
    case 'TriggerOrderCanceled':
      return refused(orderTypeName(event.args.orderType), event.args.cancelReason)
    case 'LeverageUpdateExecuted':
      return settled(`leverage ${event.args.isIncrease ? 'up' : 'down'}`, event.args.cancelReason)
    case 'PositionSizeIncreaseExecuted':
      return settled(
        `increase ${event.args.collateralDelta > 0n ? 'with collateral' : 'of leverage'}`,
        event.args.cancelReason,
      )
    case 'PositionSizeDecreaseExecuted':
      return settled(
        `decrease ${event.args.collateralDelta > 0n ? 'of collateral' : 'of leverage'}`,
        event.args.cancelReason,
      )
    case 'CollateralReturnedAfterTimeout':
      return 'reclaimed collateral'
    case 'TradingFeesRealized':
      return event.args.amountSentFromVaultCollateral > 0n ? 'advanced a fee' : undefined
    case 'HoldingFeesChargedOnTrade':
      return 'paid holding fees to the vault'
    case 'TradeFeesDataDownscaled':
      return 'scaled a record down'
    case 'TradeValueTransferred':
      return event.args.collateralSentToTrader < 0n ? 'sent a loss to the vault' : undefined
    default:
      return undefined
  }
}

/** Returns the reason for which a close or a change of a position was refused. */
function refusalOnPosition(event: WorldEvent): number | undefined {
  switch (event.eventName) {
    case 'MarketCloseCanceled':
    case 'LeverageUpdateExecuted':
    case 'PositionSizeIncreaseExecuted':
    case 'PositionSizeDecreaseExecuted':
      return event.args.cancelReason === CancelReason.NONE ? undefined : event.args.cancelReason
    default:
      return undefined
  }
}

function isBeyondCollateral(event: WorldEvent): boolean {
  if (event.eventName !== 'MarketExecuted' && event.eventName !== 'LimitExecuted') return false
  return event.args.percentProfit > 100n * 10n ** 10n
}

function settled(what: string, cancelReason: number): string {
  return cancelReason === CancelReason.NONE ? `executed ${what}` : refused(what, cancelReason)
}

function refused(what: string, cancelReason: number): string {
  return `refused ${what}: ${REASONS.get(cancelReason) ?? cancelReason}`
}
