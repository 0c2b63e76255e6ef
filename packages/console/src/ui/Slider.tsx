import { Field, type FieldIds } from './Field.tsx'

export interface SliderMark {
  readonly value: number
  readonly label: string
}

export interface SliderProps {
  readonly label: string
  readonly min: number
  readonly max: number
  readonly step: number
  readonly value: number
  readonly onInput: (value: number) => void
  /** Buttons below the slider that set it to a value. */
  readonly marks?: readonly SliderMark[] | undefined
  /** Value in words for screen readers, for instance `10 times`. */
  readonly valueText?: string | undefined
  readonly disabled?: boolean | undefined
  readonly testId?: string | undefined
}

/** A range input with marks. */
export function Slider(props: SliderProps) {
  const { label, min, max, step, value, onInput, marks = [] } = props
  return (
    <div class="slider">
      <Field label={label}>
        {(ids: FieldIds) => (
          <input
            {...ids}
            class="slider-input"
            type="range"
            min={min}
            max={max}
            step={step}
            value={value}
            disabled={props.disabled}
            aria-valuetext={props.valueText}
            data-testid={props.testId}
            onInput={(event) => onInput(event.currentTarget.valueAsNumber)}
          />
        )}
      </Field>
      {marks.length > 0 && (
        <div class="slider-marks" role="group" aria-label={`${label}: set to`}>
          {marks.map((mark) => (
            <button
              key={mark.value}
              type="button"
              class="slider-mark"
              aria-pressed={mark.value === value}
              disabled={props.disabled}
              onClick={() => onInput(mark.value)}
            >
              {mark.label}
            </button>
          ))}
        </div>
      )}
    </div>
  )
}
