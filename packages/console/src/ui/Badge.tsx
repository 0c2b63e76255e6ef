import type { ComponentChildren } from 'preact'

/** Meaning of a badge, a notice, a banner or a toast. */
export type Tone = 'good' | 'bad' | 'warn' | 'info' | 'none'

export interface BadgeProps {
  readonly tone: Tone
  readonly children?: ComponentChildren
  readonly title?: string | undefined
  readonly testId?: string | undefined
}

/** A word in a coloured frame, such as a status. */
export function Badge({ tone, children, title, testId }: BadgeProps) {
  return (
    <span class={`badge badge-${tone}`} title={title} data-testid={testId}>
      {children}
    </span>
  )
}
