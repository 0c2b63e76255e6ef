import type { OrderType, Side } from '@bezel/sdk'
import { formatAmount } from '../ground/format.ts'
import { DecimalField } from '../ui/Field.tsx'
import { SegmentedControl, type Segment } from '../ui/SegmentedControl.tsx'
import { SelectField } from '../ui/SelectField.tsx'
import { Slider } from '../ui/Slider.tsx'
import type { TicketDraft } from './draft.ts'
import { leverageMarks, leverageOfPlace, placeOfLeverage, SLIDER_PLACES } from './leverageScale.ts'
import { collateralOf, type TicketFacts, type TicketModel } from './ticketModel.ts'

/** Props of every part of the form. */
export interface FieldsProps {
  readonly draft: TicketDraft
  readonly model: TicketModel
  readonly facts: TicketFacts
  readonly change: (change: Partial<TicketDraft>) => void
}

const SIDES: readonly Segment<Side>[] = [
  { value: 'long', label: '▲ Long', tone: 'long', testId: 'side-long', guide: 'side-long' },
  { value: 'short', label: '▼ Short', tone: 'short', testId: 'side-short' },
]

const TYPES: readonly Segment<OrderType>[] = [
  { value: 'market', label: 'Market', testId: 'type-market' },
  { value: 'limit', label: 'Limit', testId: 'type-limit' },
  { value: 'stop', label: 'Stop', testId: 'type-stop' },
]

/** Side and kind of the order. */
export function KindFields({ draft, change }: Pick<FieldsProps, 'draft' | 'change'>) {
  return (
    <>
      <SegmentedControl label="Side" options={SIDES} value={draft.side} onChange={(side) => change({ side })} />
      <SegmentedControl label="Order type" options={TYPES} value={draft.type} onChange={(type) => change({ type })} />
    </>
  )
}

/** The trigger of a limit or stop order. */
export function PriceField({ draft, model, facts, change }: FieldsProps) {
  if (draft.type === 'market') return null
  return (
    <DecimalField
      label={draft.type === 'limit' ? 'Limit price, or better' : 'Stop price, once the market reaches it'}
      unit={facts.market.quote}
      value={draft.price}
      hint={model.warnings.price === undefined ? null : <span class="ticket-warning">{model.warnings.price}</span>}
      error={model.errors.price}
      testId="price"
      onInput={(price) => change({ price })}
    />
  )
}

/** Size and collateral, which follow each other through the leverage. */
export function AmountFields({ draft, model, facts, change }: FieldsProps) {
  const { market, balance } = facts
  const token = collateralOf(market, draft.collateral)
  const typed = (amountBy: TicketDraft['amountBy']) => (amount: string) => change({ amountBy, amount })
  return (
    <>
      <DecimalField
        label="Size"
        unit={market.base}
        value={model.size}
        hint={model.warnings.size}
        error={model.errors.size ?? model.errors.reduceOnly}
        testId="size"
        guide="size"
        onInput={typed('size')}
      />
      {!draft.reduceOnly && (
        <div class="ticket-row">
          <DecimalField
            label="Collateral"
            unit={market.collaterals.length > 1 ? undefined : token?.symbol}
            value={model.collateralAmount}
            hint={<BalanceHint balance={balance} symbol={token?.symbol ?? ''} warning={model.warnings.collateral} />}
            error={model.errors.collateral}
            testId="collateral-amount"
            onInput={typed('collateral')}
          />
          {market.collaterals.length > 1 && (
            <SelectField
              label="Token"
              value={token?.symbol ?? ''}
              options={market.collaterals.map(({ symbol }) => ({ value: symbol, label: symbol }))}
              testId="collateral-token"
              onChange={(collateral) => change({ collateral })}
            />
          )}
        </div>
      )}
    </>
  )
}

interface BalanceHintProps {
  readonly balance: string | null
  readonly symbol: string
  readonly warning: string | undefined
}

function BalanceHint({ balance, symbol, warning }: BalanceHintProps) {
  if (warning !== undefined) return <span class="ticket-warning">{warning}</span>
  return balance === null ? null : <>{`Balance ${formatAmount(balance, { symbol })}`}</>
}

/** The leverage as a number and as a slider within the bounds of the market. */
export function LeverageField({ draft, model, facts, change }: FieldsProps) {
  if (draft.reduceOnly) return null
  const { minLeverage, maxLeverage } = facts.market
  const place = placeOfLeverage(draft.leverage, facts.market)
  return (
    <div class="ticket-leverage">
      <DecimalField
        label={`Leverage, ${minLeverage} to ${maxLeverage}`}
        unit="×"
        value={draft.leverage}
        error={model.errors.leverage}
        testId="leverage"
        onInput={(leverage) => change({ leverage })}
      />
      <Slider
        label="Leverage by slider"
        min={0}
        max={SLIDER_PLACES}
        step={1}
        value={place}
        marks={leverageMarks(facts.market)}
        valueText={`${draft.leverage} times`}
        testId="leverage-slider"
        onInput={(next) => change({ leverage: leverageOfPlace(next, facts.market) })}
      />
    </div>
  )
}
