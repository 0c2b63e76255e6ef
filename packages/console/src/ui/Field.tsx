import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { normaliseDecimal } from '../ground/format.ts'

/** Attributes that tie an input to its label, hint and error. */
export interface FieldIds {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': boolean | undefined
}

export interface FieldProps {
  readonly label: ComponentChildren
  /** A sentence below the input, such as its bounds. */
  readonly hint?: ComponentChildren
  /** A sentence that says what is wrong and what to change. It replaces the hint. */
  readonly error?: string | null | undefined
  /** The input: a function receives the attributes that tie it to the label, else the label wraps it. */
  readonly children: ComponentChildren | ((ids: FieldIds) => ComponentChildren)
  readonly class?: string | undefined
}

/** A labelled input with a hint or an error below it. */
export function Field({ label, hint, error, children, class: className }: FieldProps) {
  const id = useId()
  const hasError = error !== undefined && error !== null && error !== ''
  const hasNote = hasError || (hint !== undefined && hint !== null && hint !== '')
  const noteId = `${id}-note`
  const note = hasNote && (
    <p id={noteId} class={hasError ? 'field-error' : 'field-hint'} role={hasError ? 'alert' : undefined}>
      {hasError ? error : hint}
    </p>
  )
  const classes = className === undefined ? 'field' : `field ${className}`
  if (typeof children !== 'function') {
    return (
      <div class={classes}>
        <label class="field-wrap">
          <span class="field-label">{label}</span>
          {children}
        </label>
        {note}
      </div>
    )
  }
  const ids = { id, 'aria-describedby': hasNote ? noteId : undefined, 'aria-invalid': hasError ? true : undefined }
  return (
    <div class={classes}>
      <label class="field-label" for={id}>
        {label}
      </label>
      {children(ids)}
      {note}
    </div>
  )
}

interface TextInputProps {
  readonly label: ComponentChildren
  readonly value: string
  readonly onInput: (value: string) => void
  readonly hint?: ComponentChildren
  readonly error?: string | null | undefined
  readonly placeholder?: string | undefined
  readonly disabled?: boolean | undefined
  readonly testId?: string | undefined
  readonly guide?: string | undefined
}

export interface TextFieldProps extends TextInputProps {
  readonly type?: 'text' | 'password' | 'search' | 'datetime-local' | 'date' | undefined
  readonly autocomplete?: string | undefined
  readonly maxLength?: number | undefined
  /** True for addresses and hashes: fixed-width letters, no spelling check. */
  readonly mono?: boolean | undefined
}

/** A field for a line of text. */
export function TextField(props: TextFieldProps) {
  const { label, hint, error, value, onInput, type = 'text', mono = false } = props
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids: FieldIds) => (
        <input
          {...ids}
          class={mono ? 'input input-mono' : 'input'}
          type={type}
          value={value}
          placeholder={props.placeholder}
          disabled={props.disabled}
          autocomplete={props.autocomplete ?? 'off'}
          maxLength={props.maxLength}
          spellcheck={mono ? false : undefined}
          data-testid={props.testId}
          data-guide={props.guide}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

export interface DecimalFieldProps extends TextInputProps {
  /** Unit at the right end, for instance `USD`. */
  readonly unit?: ComponentChildren
  /** Accepts a minus sign. Default false. */
  readonly signed?: boolean | undefined
  /** A control at the right end, for instance a button that fills in the maximum. */
  readonly action?: ComponentChildren
}

/**
 * A field for an amount or a price. `onInput` receives a decimal as the SDK takes it, or the beginning of one (`12.`):
 * a comma counts as the point, and anything else than digits is left out.
 */
export function DecimalField(props: DecimalFieldProps) {
  const { label, hint, error, value, onInput, unit, action, signed = false } = props
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids: FieldIds) => (
        <span class="input-group">
          <input
            {...ids}
            class="input input-number"
            type="text"
            inputMode="decimal"
            autocomplete="off"
            value={value}
            placeholder={props.placeholder}
            disabled={props.disabled}
            data-testid={props.testId}
            data-guide={props.guide}
            onInput={(event) => {
              const accepted = normaliseDecimal(event.currentTarget.value, { signed })
              if (event.currentTarget.value !== accepted) event.currentTarget.value = accepted
              onInput(accepted)
            }}
          />
          {unit !== undefined && <span class="input-unit">{unit}</span>}
          {action}
        </span>
      )}
    </Field>
  )
}
