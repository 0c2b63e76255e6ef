import type { VNode } from 'preact'
import { markets } from '../data/markets.ts'
import { SegmentedControl } from '../ui/SegmentedControl.tsx'
import { SelectField } from '../ui/SelectField.tsx'
import { DecimalField, TextField } from '../ui/Field.tsx'
import { EXPIRY_CHOICES, type ReadScope, type ScopeForm } from './scopeForm.ts'

interface ScopeFieldsProps {
  readonly form: ScopeForm
  /** Sentences of the fields that are wrong. */
  readonly problems: ReadScope['problems']
  readonly onChange: (changes: Partial<ScopeForm>) => void
}

/** The fields of an agent's limits. */
export function ScopeFields({ form, problems, onChange }: ScopeFieldsProps): VNode {
  const count = markets.value?.length
  const all = count === undefined ? 'all markets' : `all ${count} markets`
  return (
    <fieldset class="agents-fields">
      <legend class="agents-legend">Limits</legend>
      <div data-testid="scope-permissions">
        <SegmentedControl
          label="What it may do"
          hideLabel={false}
          options={[
            { value: 'trade', label: 'Trade', testId: 'scope-trade' },
            { value: 'read', label: 'Only read', testId: 'scope-read' },
          ]}
          value={form.permissions}
          onChange={(permissions) => onChange({ permissions })}
        />
      </div>
      <TextField
        label="Markets"
        value={form.markets}
        placeholder={all}
        hint={`Nothing for ${all}, or names with commas: BTC, ETH`}
        error={problems.markets}
        testId="scope-markets"
        onInput={(typed) => onChange({ markets: typed })}
      />
      {form.permissions === 'trade' && <TradeLimits form={form} problems={problems} onChange={onChange} />}
      <SelectField
        label="Ends"
        value={form.expiry}
        options={EXPIRY_CHOICES}
        error={form.expiry === 'date' ? null : problems.expiry}
        testId="scope-expiry"
        onChange={(expiry) => onChange({ expiry })}
      />
      {form.expiry === 'date' && (
        <TextField
          label="Date and time of the end"
          type="datetime-local"
          value={form.expiryDate}
          error={problems.expiry}
          testId="scope-expiry-date"
          onInput={(expiryDate) => onChange({ expiryDate })}
        />
      )}
    </fieldset>
  )
}

function TradeLimits({ form, problems, onChange }: ScopeFieldsProps): VNode {
  return (
    <>
      <DecimalField
        label="Greatest leverage"
        unit="×"
        value={form.maxLeverage}
        placeholder="no limit"
        error={problems.maxLeverage}
        testId="scope-leverage"
        onInput={(maxLeverage) => onChange({ maxLeverage })}
      />
      <DecimalField
        label="Daily cap"
        unit="USD"
        value={form.dailyCapUsd}
        placeholder="no limit"
        hint="Most notional it may open in one day (UTC)"
        error={problems.dailyCapUsd}
        testId="scope-cap"
        onInput={(dailyCapUsd) => onChange({ dailyCapUsd })}
      />
    </>
  )
}
