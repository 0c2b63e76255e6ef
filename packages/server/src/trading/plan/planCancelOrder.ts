import { Usd, type Hex } from '@bezel/protocol'
import { encodeCall, requireCallCount } from './encodeCall.ts'
import { notModifiable, type ChangePlan, type KnownOrder } from './plan.ts'

/** Plans the early end of an order. `'withdraw'` means that it never reached the chain, so no transaction is needed. */
export function planCancelOrder(order: KnownOrder): ChangePlan | 'withdraw' {
  const { status, tradeIndex, unanswered } = order.state
  if (status === 'prepared') return 'withdraw'
  if (status === 'open' && tradeIndex !== null) {
    return changePlan(order, 'cancel', [encodeCall('cancelOpenOrder', [tradeIndex])])
  }
  if (status === 'timed_out' && unanswered.length > 0) {
    requireCallCount(unanswered.length)
    const calls = unanswered.map((pendingIndex) => encodeCall('cancelOrderAfterTimeout', [pendingIndex]))
    return changePlan(order, 'reclaim', calls)
  }
  throw notModifiable(order, 'Only a resting, a timed-out or a not yet sent order can be cancelled.')
}

function changePlan({ record }: KnownOrder, kind: 'cancel' | 'reclaim', calls: readonly Hex[]): ChangePlan {
  return {
    kind,
    calls,
    action: { market: record.request.market, leverage: null, spendUsd: Usd.zero },
    validity: 'resting',
    takes: null,
    warnings: [],
    changes: {},
  }
}
