import { Component, type ComponentChildren } from 'preact'
import { problemOf } from '../ground/problem.ts'
import { Button } from '../ui/Button.tsx'
import { CopyText } from '../ui/CopyText.tsx'
import { Notice } from '../ui/Notice.tsx'

interface ErrorBoundaryProps {
  /** Part of the page that it guards, for the words. */
  readonly where: string
  readonly children?: ComponentChildren
}

interface ErrorBoundaryState {
  readonly error: unknown
  readonly hasFailed: boolean
}

/** Shows what happened in the place of a part of the page that could not be drawn, so that the page is never blank. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, ErrorBoundaryState> {
  override state: ErrorBoundaryState = { error: null, hasFailed: false }

  static override getDerivedStateFromError(error: unknown): ErrorBoundaryState {
    return { error, hasFailed: true }
  }

  override componentDidCatch(error: unknown): void {
    console.error(error)
  }

  override render() {
    const { where, children } = this.props
    const { error, hasFailed } = this.state
    if (!hasFailed) return <>{children}</>
    const { message } = problemOf(error)
    const details = error instanceof Error ? (error.stack ?? error.message) : String(error)
    const actions = (
      <>
        <Button onClick={() => this.setState({ error: null, hasFailed: false })}>Try again</Button>{' '}
        <Button kind="primary" onClick={() => location.reload()}>
          Reload the page
        </Button>
      </>
    )
    return (
      <div class="content-narrow" data-testid="page-error">
        <h1>{where} could not be shown</h1>
        <Notice tone="bad" title="Something is wrong with this page" action={actions}>
          {message} What was sent before goes on by itself; orders and positions are not affected.
        </Notice>
        <p class="muted">
          If it happens again, report it with the details: <CopyText text={details} label="Copy the details" />
        </p>
      </div>
    )
  }
}
