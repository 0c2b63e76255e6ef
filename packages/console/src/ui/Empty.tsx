import type { ComponentChildren } from 'preact'

export interface EmptyProps {
  readonly title: string
  /** Advice on how to make something appear here. */
  readonly children?: ComponentChildren
  readonly testId?: string | undefined
}

/** Text that stands in place of a list without entries. */
export function Empty({ title, children, testId }: EmptyProps) {
  return (
    <div class="empty" data-testid={testId}>
      <p class="empty-title">{title}</p>
      {children !== undefined && <div class="empty-text">{children}</div>}
    </div>
  )
}
