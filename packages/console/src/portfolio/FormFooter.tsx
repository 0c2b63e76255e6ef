import type { MarketRecord, Position } from '@bezel/sdk'
import type { ComponentChildren } from 'preact'
import { isBusy, problemOfAction } from '../session/act.ts'
import { activeSigner } from '../session/sessionAgent.ts'
import { Button, type ButtonKind } from '../ui/Button.tsx'
import { ProblemNotice } from '../ui/Notice.tsx'

/** Props of every form that changes a position. */
export interface EditFormProps {
  readonly position: Position
  readonly market: MarketRecord
}

interface FormFooterProps {
  /** Name of the action that the form runs. */
  readonly action: string
  readonly onCancel: () => void
  readonly isReady: boolean
  readonly kind?: ButtonKind
  readonly children: ComponentChildren
}

/** The end of a form in a dialog: what went wrong, and the two buttons. */
export function FormFooter({ action, onCancel, isReady, kind = 'primary', children }: FormFooterProps) {
  const busy = isBusy(action).value
  return (
    <>
      <ProblemNotice problem={problemOfAction(action).value} testId="dialog-problem" />
      <p class="portfolio-hint" aria-live="polite">
        {busy ? waitingWords() : ' '}
      </p>
      <div class="portfolio-form-footer">
        <Button kind="quiet" onClick={onCancel}>
          Cancel
        </Button>
        <Button type="submit" kind={kind} busy={busy} disabled={!isReady} testId="confirm">
          {children}
        </Button>
      </div>
    </>
  )
}

function waitingWords(): string {
  return activeSigner.value === 'wallet'
    ? 'Look at your wallet: it signs the request, then sends the transaction.'
    : 'The session agent signs and sends it.'
}
