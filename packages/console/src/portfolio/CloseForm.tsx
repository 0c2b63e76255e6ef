import { DEFAULT_SLIPPAGE } from '@bezel/protocol/wire'
import { decimal, type MarketRecord, type OrderPreview, type Position } from '@bezel/sdk'
import { useSignal } from '@preact/signals'
import { formatAmount, isPositiveDecimal } from '../ground/format.ts'
import { clearProblem } from '../session/act.ts'
import { DecimalField } from '../ui/Field.tsx'
import { Money, PriceText } from '../ui/Money.tsx'
import { Slider } from '../ui/Slider.tsx'
import { FormFooter, type EditFormProps } from './FormFooter.tsx'
import { PreviewLines, type PreviewLine } from './PreviewLines.tsx'
import { actionName, closePosition } from './actions.ts'
import { CLOSE_PERCENTS, closeOfSize, percentOfSize, sizeOfPercent } from './closeSize.ts'
import { closeDialog } from './dialogs.ts'
import { isSendable, usePreview } from './usePreview.ts'

const MARKS = CLOSE_PERCENTS.map((percent) => ({ value: Number(percent), label: `${percent} %` }))

/** Closes a position, or a part of it that is chosen by percent or by size. */
export function CloseForm({ position, market }: EditFormProps) {
  const { id } = position
  const typed = useSignal(position.size)
  const slippage = useSignal<string>(DEFAULT_SLIPPAGE)
  const { request, problem, left } = closeOfSize(position, typed.value, market)
  const slippageProblem = isPositiveDecimal(slippage.value) ? null : 'Enter a percentage above 0, such as 1.'
  const asked = request === null || slippageProblem !== null ? null : { ...request, ...slippageOf(slippage.value) }
  const state = usePreview(asked === null ? null : JSON.stringify(asked), (client, options) =>
    client.preview.close(id, asked ?? {}, options),
  )
  const change = (size: string): void => {
    typed.value = size
    clearProblem(actionName.close(id))
  }
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (asked !== null && (await closePosition(id, asked))) closeDialog(true)
  }
  return (
    <form class="portfolio-form" onSubmit={(event) => void submit(event)}>
      <PartFields position={position} market={market} size={typed.value} problem={problem} onSize={change} />
      <DecimalField
        label="Slippage"
        unit="%"
        value={slippage.value}
        onInput={(value) => (slippage.value = value)}
        error={slippageProblem}
        hint="How far the price may move against you before the contracts refuse it."
        testId="close-slippage"
      />
      <PreviewLines state={state} labels={LABELS} linesOf={linesOf} idle="Choose how much to close." />
      <FormFooter
        action={actionName.close(id)}
        onCancel={() => closeDialog()}
        isReady={asked !== null && isSendable(state)}
        kind="danger"
      >
        {left === null || left === '0'
          ? 'Close position'
          : `Close ${formatAmount(typed.value, { decimals: 8 })} ${market.base}`}
      </FormFooter>
    </form>
  )
}

/** Names a slippage only when it is not the default, because the contracts keep one that is named. */
function slippageOf(typed: string): { readonly slippage?: string } {
  return decimal.compare(typed, DEFAULT_SLIPPAGE) === 0 ? {} : { slippage: typed }
}

interface PartFieldsProps {
  readonly position: Position
  readonly market: MarketRecord
  readonly size: string
  readonly problem: string | null
  readonly onSize: (size: string) => void
}

function PartFields({ position, market, size, problem, onSize }: PartFieldsProps) {
  const percent = percentOfSize(position, size)
  return (
    <>
      <Slider
        label="Share of the position"
        min={1}
        max={100}
        step={1}
        value={percent}
        valueText={`${percent} percent`}
        marks={MARKS}
        onInput={(value) => onSize(sizeOfPercent(position, String(value), market))}
        testId="close-percent"
      />
      <DecimalField
        label="Size"
        unit={market.base}
        value={size}
        onInput={onSize}
        error={problem}
        hint={`The position is ${position.size} ${market.base}.`}
        testId="close-size"
      />
    </>
  )
}

const LABELS = ['Expected price', 'Price profit', 'Closing fee', 'Holding fees', 'Payout to the wallet', 'Left open']

function linesOf(preview: OrderPreview): PreviewLine[] {
  const { collateralSymbol: symbol, fundingFee, borrowingFee, liquidationPrice } = preview
  return [
    { label: 'Expected price', after: <PriceText value={preview.price} /> },
    { label: 'Price profit', after: <Money amount={preview.pnl} symbol={symbol} tone="auto" /> },
    {
      label: 'Closing fee',
      after: <Money amount={preview.feeCollateral} symbol={symbol} />,
      testId: 'preview-fee',
    },
    { label: 'Holding fees', after: <Money amount={decimal.add(fundingFee, borrowingFee)} symbol={symbol} /> },
    { label: 'Payout to the wallet', after: <Money amount={preview.payout} symbol={symbol} /> },
    {
      label: 'Left open',
      after: liquidationPrice === null ? 'Nothing' : <>liquidated at {<PriceText value={liquidationPrice} />}</>,
    },
  ]
}
