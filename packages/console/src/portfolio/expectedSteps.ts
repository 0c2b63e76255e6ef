import type { Order } from '@bezel/sdk'
import type { OrderStepKind } from '../data/timeline.ts'

/** A step that is expected to follow. */
export interface ExpectedStep {
  readonly kind: OrderStepKind
  readonly title: string
}

const STEPS = {
  sent: { kind: 'sent', title: 'Sent' },
  pending: { kind: 'pending', title: 'Pending' },
  open: { kind: 'open', title: 'Resting' },
  filled: { kind: 'filled', title: 'Filled' },
} as const satisfies Readonly<Record<string, ExpectedStep>>

/** Returns the steps that follow the state of an order if all goes well; none once it has ended or timed out. */
export function expectedSteps({ status, type, txHash }: Pick<Order, 'status' | 'type' | 'txHash'>): ExpectedStep[] {
  const onChain = type === 'market' ? STEPS.pending : STEPS.open
  switch (status) {
    case 'prepared':
      return txHash === null ? [STEPS.sent, onChain, STEPS.filled] : [onChain, STEPS.filled]
    case 'pending':
      return type === 'market' ? [STEPS.filled] : [onChain, STEPS.filled]
    case 'open':
      return [STEPS.filled]
    default:
      return []
  }
}
