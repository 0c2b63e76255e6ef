import { decimal, type Position, type PositionPreview } from '@bezel/sdk'
import { useSignal } from '@preact/signals'
import { isPositiveDecimal } from '../ground/format.ts'
import { clearProblem } from '../session/act.ts'
import { DecimalField } from '../ui/Field.tsx'
import { Money, PriceText } from '../ui/Money.tsx'
import { FormFooter, type EditFormProps } from './FormFooter.tsx'
import { PreviewLines, type PreviewLine } from './PreviewLines.tsx'
import { actionName, updatePosition } from './actions.ts'
import { closeDialog } from './dialogs.ts'
import { isSendable, usePreview } from './usePreview.ts'

/** Changes the leverage of a position. Its size stays, so collateral moves between the wallet and the position. */
export function LeverageForm({ position, market }: EditFormProps) {
  const { id } = position
  const typed = useSignal(position.leverage)
  const problem = leverageProblem(typed.value, market.maxLeverage)
  const isChanged = problem === null && decimal.compare(typed.value, position.leverage) !== 0
  const state = usePreview(isChanged ? typed.value : null, (client, options) =>
    client.preview.position(id, { leverage: typed.value }, options),
  )
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (isChanged && (await updatePosition(id, { leverage: typed.value }))) closeDialog(true)
  }
  return (
    <form class="portfolio-form" onSubmit={(event) => void submit(event)}>
      <DecimalField
        label="Leverage"
        unit="×"
        value={typed.value}
        onInput={(value) => {
          typed.value = value
          clearProblem(actionName.update(id))
        }}
        error={problem}
        hint={`Up to ${market.maxLeverage}×. Less leverage takes collateral from the wallet, more gives some back.`}
        testId="leverage-input"
      />
      <PreviewLines
        state={state}
        labels={CHANGE_LABELS}
        linesOf={(preview) => changeLines(preview, position)}
        idle="Enter another leverage to see what it does."
      />
      <FormFooter
        action={actionName.update(id)}
        onCancel={() => closeDialog()}
        isReady={isChanged && isSendable(state)}
      >
        Change leverage
      </FormFooter>
    </form>
  )
}

function leverageProblem(typed: string, maxLeverage: string): string | null {
  if (!isPositiveDecimal(typed)) return 'Enter a leverage above 0, such as 5.'
  if (decimal.compare(typed, maxLeverage) > 0) return `This market takes at most ${maxLeverage}×. Enter less.`
  return /\.\d{4}/.test(typed) ? 'Leverage has at most 3 decimals. Enter fewer digits.' : null
}

/** Names of the lines of `changeLines`. */
export const CHANGE_LABELS = ['Leverage', 'Collateral', 'Liquidation price', 'From the wallet', 'To the wallet', 'Fee']

/** Returns the lines of a change of leverage or collateral, with what holds before it. */
export function changeLines(preview: PositionPreview, position: Position): PreviewLine[] {
  const { collateralSymbol: symbol } = preview
  return [
    { label: 'Leverage', before: `${position.leverage}×`, after: `${preview.leverage}×` },
    {
      label: 'Collateral',
      before: <Money amount={position.collateral} />,
      after: <Money amount={preview.collateral} symbol={symbol} />,
    },
    {
      label: 'Liquidation price',
      before: <PriceText value={position.liquidationPrice} />,
      after: <PriceText value={preview.liquidationPrice} />,
      testId: 'preview-liquidation',
    },
    { label: 'From the wallet', after: <Money amount={preview.deposit} symbol={symbol} /> },
    { label: 'To the wallet', after: <Money amount={preview.payout} symbol={symbol} /> },
    { label: 'Fee', after: <Money amount={preview.feeCollateral} symbol={symbol} />, testId: 'preview-fee' },
  ]
}
