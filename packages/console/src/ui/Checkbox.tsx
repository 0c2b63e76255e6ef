import type { ComponentChildren } from 'preact'

export interface CheckboxProps {
  readonly label: ComponentChildren
  readonly checked: boolean
  readonly onChange: (checked: boolean) => void
  readonly hint?: ComponentChildren
  readonly disabled?: boolean | undefined
  readonly testId?: string | undefined
}

/** A box to tick, with its label beside it. */
export function Checkbox({ label, checked, onChange, hint, disabled, testId }: CheckboxProps) {
  return (
    <label class="checkbox">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        data-testid={testId}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>
        {label}
        {hint !== undefined && <span class="field-hint"> {hint}</span>}
      </span>
    </label>
  )
}
