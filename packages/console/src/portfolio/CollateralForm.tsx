import type { UpdatePositionRequest } from '@bezel/sdk'
import { useSignal } from '@preact/signals'
import { account } from '../data/account.ts'
import { formatAmount, isPositiveDecimal } from '../ground/format.ts'
import { clearProblem } from '../session/act.ts'
import { DecimalField } from '../ui/Field.tsx'
import { SegmentedControl } from '../ui/SegmentedControl.tsx'
import { FormFooter, type EditFormProps } from './FormFooter.tsx'
import { CHANGE_LABELS, changeLines } from './LeverageForm.tsx'
import { PreviewLines } from './PreviewLines.tsx'
import { actionName, updatePosition } from './actions.ts'
import { closeDialog } from './dialogs.ts'
import { isSendable, usePreview } from './usePreview.ts'

const ACTIONS = [
  { value: 'add', label: 'Add', testId: 'collateral-add' },
  { value: 'remove', label: 'Remove', testId: 'collateral-remove' },
] as const

/** Adds collateral to a position or removes some. Its size stays, so its leverage changes. */
export function CollateralForm({ position, market }: EditFormProps) {
  const { id, collateralSymbol } = position
  const action = useSignal<'add' | 'remove'>('add')
  const amount = useSignal('')
  const request: UpdatePositionRequest | null = isPositiveDecimal(amount.value)
    ? { collateral: { action: action.value, amount: amount.value } }
    : null
  const state = usePreview(request === null ? null : JSON.stringify(request), (client, options) =>
    client.preview.position(id, request ?? {}, options),
  )
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (request !== null && (await updatePosition(id, request))) closeDialog(true)
  }
  return (
    <form class="portfolio-form" onSubmit={(event) => void submit(event)}>
      <SegmentedControl
        label="Direction"
        options={ACTIONS}
        value={action.value}
        onChange={(value) => (action.value = value)}
      />
      <DecimalField
        label="Amount"
        unit={collateralSymbol}
        value={amount.value}
        onInput={(value) => {
          amount.value = value
          clearProblem(actionName.update(id))
        }}
        hint={hintOf(action.value, position.collateral, collateralSymbol)}
        testId="collateral-input"
      />
      <PreviewLines
        state={state}
        labels={CHANGE_LABELS}
        linesOf={(preview) => changeLines(preview, position)}
        idle={`Enter an amount. Leverage stays at or below ${market.maxLeverage}×.`}
      />
      <FormFooter
        action={actionName.update(id)}
        onCancel={() => closeDialog()}
        isReady={request !== null && isSendable(state)}
      >
        {action.value === 'add' ? 'Add collateral' : 'Remove collateral'}
      </FormFooter>
    </form>
  )
}

function hintOf(action: 'add' | 'remove', held: string, symbol: string): string {
  if (action === 'remove') return `The position holds ${formatAmount(held, { symbol })}.`
  const balance = account.value?.balances.find(({ collateral }) => collateral === symbol)?.balance
  return balance === undefined ? '' : `The wallet has ${formatAmount(balance, { symbol })}.`
}
