import { PendingOrderType } from '@bezel/protocol'
import type { DiamondEvent } from '../chain/events/index.ts'
import type { PlacedEvent } from '../chain/chainBlock.ts'

/**
 * The trading fee of the execution at `at`: the Diamond shares it out just before it tells of the execution. 0 when there was none. Another
 * execution may stand in between, because a fee can liquidate a trade, but none of the same kind and trader.
 */
export function executionFee(
  events: readonly PlacedEvent[],
  at: number,
  of: { readonly trader: `0x${string}`; readonly orderType: number },
): bigint {
  for (const event of events.slice(0, at).toReversed()) {
    const executed = executedTypeOf(event)
    if (executed?.trader === of.trader && executed.orderType === of.orderType) return 0n
    if (event.name !== 'FeesProcessed') continue
    if (event.args.trader === of.trader && event.args.orderType === of.orderType) return event.args.totalFeesCollateral
  }
  return 0n
}

function executedTypeOf(
  event: DiamondEvent,
): { readonly trader: `0x${string}`; readonly orderType: number } | undefined {
  if (event.name === 'LimitExecuted') return { trader: event.args.user, orderType: event.args.orderType }
  if (event.name !== 'MarketExecuted') return undefined
  const orderType = event.args.open ? PendingOrderType.MARKET_OPEN : PendingOrderType.MARKET_CLOSE
  return { trader: event.args.user, orderType }
}
