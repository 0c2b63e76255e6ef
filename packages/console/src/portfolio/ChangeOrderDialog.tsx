import type { MarketRecord, Order } from '@bezel/sdk'
import { useSignal } from '@preact/signals'
import { orderOf } from '../data/account.ts'
import { marketOf, priceOf } from '../data/markets.ts'
import { clearProblem } from '../session/act.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { Empty } from '../ui/Empty.tsx'
import { DecimalField } from '../ui/Field.tsx'
import { PriceText } from '../ui/Money.tsx'
import { FormFooter } from './FormFooter.tsx'
import { actionName, updateOrder } from './actions.ts'
import { closeDialog } from './dialogs.ts'
import { changeOfOrder, typedTerms, type TypedTerms } from './orderChange.ts'
import { kindWord } from './words.ts'

interface ChangeOrderDialogProps {
  readonly orderId: string
  readonly onClose: () => void
}

/** The dialog that changes price, size and stops of a resting order. */
export function ChangeOrderDialog({ orderId, onClose }: ChangeOrderDialogProps) {
  const order = orderOf(orderId)
  const market = order === undefined ? undefined : marketOf(order.market)
  const title = order === undefined ? `Order ${orderId}` : `${kindWord(order)} ${order.side} ${order.market}`
  return (
    <Dialog title={title} onClose={onClose} testId="order-dialog">
      {order === undefined || market === undefined || order.status !== 'open' ? (
        <Empty title="This order does not rest any more.">Its timeline says what became of it.</Empty>
      ) : (
        <ChangeForm order={order} market={market} />
      )}
    </Dialog>
  )
}

const FIELDS = [
  { name: 'price', label: 'Price', testId: 'order-price-input' },
  { name: 'size', label: 'Size', testId: 'order-size-input' },
  { name: 'tp', label: 'Take profit', testId: 'tp-input' },
  { name: 'sl', label: 'Stop loss', testId: 'sl-input' },
] as const

function ChangeForm({ order, market }: { readonly order: Order; readonly market: MarketRecord }) {
  const { id } = order
  const typed = useSignal<TypedTerms>(typedTerms(order))
  const { request, problems } = changeOfOrder(order, typed.value, market)
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (request !== null && (await updateOrder(id, request))) closeDialog(true)
  }
  return (
    <form class="portfolio-form" onSubmit={(event) => void submit(event)}>
      <p class="portfolio-hint">
        Mark <PriceText value={priceOf(order.market).value?.mark ?? null} />. A new price cancels the order and places
        it again, so the Diamond takes its collateral anew.
      </p>
      {FIELDS.map(({ name, label, testId }) => (
        <DecimalField
          key={name}
          label={label}
          unit={name === 'size' ? market.base : market.quote}
          value={typed.value[name]}
          onInput={(value) => {
            typed.value = { ...typed.value, [name]: value }
            clearProblem(actionName.changeOrder(id))
          }}
          error={problems[name] ?? null}
          hint={name === 'tp' || name === 'sl' ? 'Empty for none.' : undefined}
          testId={testId}
        />
      ))}
      <FormFooter action={actionName.changeOrder(id)} onCancel={() => closeDialog()} isReady={request !== null}>
        Change order
      </FormFooter>
    </form>
  )
}
