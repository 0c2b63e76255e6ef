import type { ComponentChildren } from 'preact'
import { Field, type FieldIds } from './Field.tsx'

export interface SelectOption<Value extends string> {
  readonly value: Value
  readonly label: string
  readonly disabled?: boolean | undefined
}

export interface SelectFieldProps<Value extends string> {
  readonly label: ComponentChildren
  readonly value: Value
  readonly options: readonly SelectOption<Value>[]
  readonly onChange: (value: Value) => void
  readonly hint?: ComponentChildren
  readonly error?: string | null | undefined
  readonly disabled?: boolean | undefined
  readonly testId?: string | undefined
}

/** A field with a list of choices, as the browser draws it. */
export function SelectField<Value extends string>(props: SelectFieldProps<Value>) {
  const { label, value, options, onChange, hint, error } = props
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids: FieldIds) => (
        <select
          {...ids}
          class="input select"
          value={value}
          disabled={props.disabled}
          data-testid={props.testId}
          onChange={(event) => {
            const chosen = options.find((option) => option.value === event.currentTarget.value)
            if (chosen !== undefined) onChange(chosen.value)
          }}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value} disabled={option.disabled}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
