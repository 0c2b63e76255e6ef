import { formatPercent, formatPrice } from '../ground/format.ts'
import { DecimalField } from '../ui/Field.tsx'
import type { FieldsProps } from './OrderFields.tsx'
import { restated, type StopKind, type StopValue } from './stops.ts'
import type { StopDraft } from './draft.ts'

const NAMES: Readonly<Record<StopKind, string>> = { tp: 'Take profit', sl: 'Stop loss' }

/** Take profit and stop loss, each by price or by the gain or loss in percent of the collateral. */
export function StopFields(props: FieldsProps) {
  if (props.draft.reduceOnly) return null
  return (
    <div class="ticket-row">
      <StopField kind="tp" {...props} />
      <StopField kind="sl" {...props} />
    </div>
  )
}

function StopField({ kind, draft, model, facts, change }: FieldsProps & { readonly kind: StopKind }) {
  const stop = draft[kind]
  const isPercent = stop.by === 'percent'
  const unit = isPercent ? '%' : facts.market.quote
  const other: StopDraft['by'] = isPercent ? 'price' : 'percent'
  const set = (next: StopDraft): void => change({ [kind]: next })
  const toggle = (
    <button
      type="button"
      class="ticket-unit"
      aria-label={`${unit}: ${NAMES[kind]} by ${isPercent ? 'percent of the collateral. Change to price' : 'price. Change to percent of the collateral'}`}
      data-testid={`${kind}-unit`}
      onClick={() => set(restated(kind, stop, other, model.stopFacts))}
    >
      {unit}
    </button>
  )
  return (
    <DecimalField
      label={NAMES[kind]}
      value={stop.value}
      placeholder="None"
      hint={stopHint(kind, stop.by, model[kind])}
      error={model.errors[kind]}
      testId={kind}
      action={toggle}
      onInput={(value) => set({ ...stop, value })}
    />
  )
}

/** Says the stop in the other ways: percent is of the collateral, and the move of the price stands beside it. */
function stopHint(kind: StopKind, by: StopDraft['by'], value: StopValue | null): string {
  if (value === null) return by === 'percent' ? `${kind === 'tp' ? 'Gain' : 'Loss'} in % of the collateral` : ' '
  const move = `price ${formatPercent(value.moveRate, { sign: true })}`
  if (by === 'percent') return `At ${formatPrice(value.price)}, ${move}`
  return `${formatPercent(value.gainRate, { digits: 1, sign: true })} of the collateral, ${move}`
}
