import { CancelReason, type OrderReason } from '@bezel/protocol'

const REASONS: ReadonlyMap<number, OrderReason> = new Map(
  Object.entries(CancelReason).map(([name, reason]) => [
    reason,
    reason === CancelReason.COUNTER_TRADE_CANCELED ? 'OTHER' : (name as OrderReason),
  ]),
)

/** Why the Diamond refused; `OTHER` for a reason that the interface has no name for. */
export function refusalReason(cancelReason: number): OrderReason {
  return REASONS.get(cancelReason) ?? 'OTHER'
}
