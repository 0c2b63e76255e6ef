import type { ComponentChildren } from 'preact'
import type { Problem } from '../ground/problem.ts'
import type { Tone } from './Badge.tsx'
import { Icon } from './Icon.tsx'

export interface NoticeProps {
  readonly tone: Tone
  readonly title?: ComponentChildren
  readonly children?: ComponentChildren
  /** The next step as a button or a link. */
  readonly action?: ComponentChildren
  readonly testId?: string | undefined
}

/** A message beside its cause. A bad one is read out at once, any other when there is a pause. */
export function Notice({ tone, title, children, action, testId }: NoticeProps) {
  const role = tone === 'bad' ? 'alert' : tone === 'none' ? undefined : 'status'
  return (
    <div class={`notice notice-${tone}`} role={role} data-testid={testId}>
      <Icon name={tone === 'good' ? 'check' : tone === 'bad' || tone === 'warn' ? 'warning' : 'info'} />
      <div class="notice-text">
        {title !== undefined && <strong class="notice-title">{title}</strong>}
        <div>{children}</div>
      </div>
      {action !== undefined && <div class="notice-action">{action}</div>}
    </div>
  )
}

export interface ProblemNoticeProps {
  /** Nothing is shown while it is null. */
  readonly problem: Problem | null | undefined
  readonly action?: ComponentChildren
  readonly testId?: string | undefined
}

/** The problem of a failed action: what happened and what to do next. A refusal by the user is no error. */
export function ProblemNotice({ problem, action, testId }: ProblemNoticeProps) {
  if (problem === null || problem === undefined) return null
  return (
    <Notice tone={problem.isRefusedByUser ? 'warn' : 'bad'} title={problem.title} action={action} testId={testId}>
      {problem.message}
      {problem.remedy !== null && <span class="notice-remedy"> {problem.remedy}</span>}
    </Notice>
  )
}
