import type { Order } from '@bezel/sdk'
import { isBusy } from '../session/act.ts'
import { Button } from '../ui/Button.tsx'
import { actionName, cancelOrder } from './actions.ts'
import { endingOf } from './orderList.ts'

const WORDS = { cancel: 'Cancel', reclaim: 'Reclaim', withdraw: 'Withdraw' } as const

interface EndOrderButtonProps {
  readonly order: Order
  /** Place of the button, where an order has two of them on one page. */
  readonly place?: string
}

/** The button that ends an order: cancels, reclaims or withdraws it. Nothing for an order that can't be ended. */
export function EndOrderButton({ order, place }: EndOrderButtonProps) {
  const ending = endingOf(order)
  if (ending === null) return null
  const kind = ending === 'reclaim' ? 'reclaim' : 'cancel'
  return (
    <Button
      small
      kind={ending === 'reclaim' ? 'primary' : undefined}
      busy={isBusy(actionName.cancelOrder(order.id)).value}
      testId={place === undefined ? `order-${kind}-${order.id}` : `${place}-${kind}-${order.id}`}
      onClick={() => void cancelOrder(order)}
    >
      {WORDS[ending]}
    </Button>
  )
}
