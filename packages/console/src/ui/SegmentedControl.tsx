import { useId } from 'preact/hooks'

export interface Segment<Value extends string> {
  readonly value: Value
  readonly label: string
  readonly tone?: 'long' | 'short' | undefined
  readonly disabled?: boolean | undefined
  readonly testId?: string | undefined
  /** Value of `data-guide`, by which the guided first minute finds the segment. */
  readonly guide?: string | undefined
}

export interface SegmentedControlProps<Value extends string> {
  readonly label: string
  readonly options: readonly Segment<Value>[]
  readonly value: Value
  readonly onChange: (value: Value) => void
  /** Hides the label from sight; screen readers still have it. Default true. */
  readonly hideLabel?: boolean | undefined
}

/** A row of radio buttons that look like one bar. Arrow keys move the choice, as with any radio group. */
export function SegmentedControl<Value extends string>(props: SegmentedControlProps<Value>) {
  const { label, options, value, onChange, hideLabel = true } = props
  const name = useId()
  return (
    <fieldset class="segments">
      <legend class={hideLabel ? 'visually-hidden' : 'field-label'}>{label}</legend>
      <div class="segments-row">
        {options.map((option) => (
          <label
            key={option.value}
            class={option.tone === undefined ? 'segment' : `segment segment-${option.tone}`}
            data-guide={option.guide}
          >
            <input
              class="segment-input"
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === value}
              disabled={option.disabled}
              data-testid={option.testId}
              onChange={() => onChange(option.value)}
            />
            <span class="segment-label">{option.label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
