import type { ComponentChildren } from 'preact'

/** Looks of a button: the main action, a quiet one, a destructive one, and the two sides of a trade. */
export type ButtonKind = 'primary' | 'quiet' | 'danger' | 'long' | 'short'

export interface ButtonProps {
  /** Default is the plain look with a border. */
  readonly kind?: ButtonKind | undefined
  /** True while the action runs: the button is disabled, shows a spinner and keeps its width. */
  readonly busy?: boolean | undefined
  readonly disabled?: boolean | undefined
  readonly onClick?: ((event: MouseEvent) => void) | undefined
  /** Default `button`, so that a button inside a form submits only when it says so. */
  readonly type?: 'button' | 'submit' | 'reset' | undefined
  /**
   * Name for screen readers and tooltip, for a button whose content is an icon or is unclear without its surroundings.
   */
  readonly label?: string | undefined
  readonly testId?: string | undefined
  /** Value of `data-guide`, by which the guided first minute finds the button. */
  readonly guide?: string | undefined
  readonly small?: boolean | undefined
  /** True for a button as wide as its container. */
  readonly block?: boolean | undefined
  /** State of a toggle button, as `aria-pressed`. */
  readonly pressed?: boolean | undefined
  /** Further classes. */
  readonly class?: string | undefined
  readonly children?: ComponentChildren
}

/** A button that can't be pressed twice while its action runs. */
export function Button(props: ButtonProps) {
  const { kind, busy = false, disabled = false, onClick, type = 'button', label, testId, guide } = props
  const classes = ['button']
  if (kind !== undefined) classes.push(`button-${kind}`)
  if (props.small === true) classes.push('button-small')
  if (props.block === true) classes.push('button-block')
  if (props.class !== undefined) classes.push(props.class)
  return (
    <button
      type={type}
      class={classes.join(' ')}
      disabled={disabled || busy}
      aria-busy={busy}
      aria-label={label}
      aria-pressed={props.pressed}
      title={label}
      data-testid={testId}
      data-guide={guide}
      onClick={onClick}
    >
      <span class={busy ? 'button-content button-content-hidden' : 'button-content'}>{props.children}</span>
      {busy && <span class="button-spinner" aria-hidden="true" />}
    </button>
  )
}
