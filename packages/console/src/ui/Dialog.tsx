import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { useSignal } from '@preact/signals'
import { problemOf, type Problem } from '../ground/problem.ts'
import { Button } from './Button.tsx'
import { Icon } from './Icon.tsx'
import { ProblemNotice } from './Notice.tsx'

export interface DialogProps {
  readonly title: string
  /** Called for Escape and the close button, and for a click beside a dialog that has no fields to lose. */
  readonly onClose: () => void
  readonly children?: ComponentChildren
  /** Buttons at the bottom, which stay visible while the content scrolls. */
  readonly footer?: ComponentChildren
  /** True for a dialog of twice the width. */
  readonly wide?: boolean | undefined
  readonly testId?: string | undefined
}

/** A modal dialog. The browser's own `<dialog>` traps the focus; closing returns it to where it was. */
export function Dialog({ title, onClose, children, footer, wide = false, testId }: DialogProps) {
  const ref = useModal(onClose)
  const titleId = useId()
  return (
    <dialog
      ref={ref}
      class={wide ? 'dialog dialog-wide' : 'dialog'}
      aria-labelledby={titleId}
      data-testid={testId}
      onCancel={(event) => {
        if (event.target !== event.currentTarget) return
        event.preventDefault()
        onClose()
      }}
      onMouseDown={(event) => {
        if (event.target === event.currentTarget && !hasFields(event.currentTarget)) onClose()
      }}
    >
      <div class="dialog-panel">
        <header class="dialog-header">
          <h2 id={titleId} class="dialog-title">
            {title}
          </h2>
          <Button kind="quiet" small label="Close" testId="cancel-dialog" onClick={onClose}>
            <Icon name="close" />
          </Button>
        </header>
        <div class="dialog-body">{children}</div>
        {footer !== undefined && <footer class="dialog-footer">{footer}</footer>}
      </div>
    </dialog>
  )
}

export interface ConfirmDialogProps {
  readonly title: string
  /** Says what will happen, and what can't be undone. */
  readonly body: ComponentChildren
  /** Words of the button that confirms, for instance `Revoke agent`. */
  readonly confirm: string
  readonly danger?: boolean | undefined
  /** The dialog closes afterwards. It stays for an answer of `false`, and shows why when this throws. */
  readonly onConfirm: () => unknown
  readonly onClose: () => void
  /** Default `confirm`. */
  readonly testId?: string | undefined
}

/** A question with two answers. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, body, confirm, danger = false, onConfirm, onClose, testId = 'confirm' } = props
  const busy = useSignal(false)
  const problem = useSignal<Problem | null>(null)
  const answer = async () => {
    busy.value = true
    problem.value = null
    try {
      if ((await onConfirm()) !== false) onClose()
    } catch (error) {
      problem.value = problemOf(error)
    } finally {
      busy.value = false
    }
  }
  const footer = (
    <>
      <Button kind="quiet" onClick={onClose}>
        Cancel
      </Button>
      <Button kind={danger ? 'danger' : 'primary'} busy={busy.value} testId={testId} onClick={() => void answer()}>
        {confirm}
      </Button>
    </>
  )
  return (
    <Dialog title={title} onClose={onClose} footer={footer}>
      {body}
      <ProblemNotice problem={problem.value} />
    </Dialog>
  )
}

/** Opens a `<dialog>` as long as its component is mounted and gives the focus back afterwards. */
function useModal(onClose: () => void) {
  const ref = useRef<HTMLDialogElement>(null)
  const latest = useRef(onClose)
  latest.current = onClose
  useEffect(() => {
    const dialog = ref.current
    const before = document.activeElement
    if (dialog !== null && !dialog.open) dialog.showModal()
    focusFirst(dialog)
    // The browser may close it without asking, as for Escape twice in a row.
    const onClosed = () => latest.current()
    dialog?.addEventListener('close', onClosed)
    return () => {
      dialog?.removeEventListener('close', onClosed)
      dialog?.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return ref
}

/**
 * Focuses the first field of a dialog, else the first button at its bottom, where Cancel comes before the deed. The
 * browser by itself would focus the close button in the corner.
 */
function focusFirst(dialog: HTMLDialogElement | null) {
  const fields =
    '[autofocus], .dialog-body :is(input, select, textarea):not([type="hidden"], [tabindex="-1"], [hidden], :disabled)'
  const field = dialog?.querySelector<HTMLElement>(fields)
  const button = dialog?.querySelector<HTMLElement>('.dialog-footer button:not(:disabled)')
  ;(field ?? button)?.focus()
}

function hasFields(dialog: HTMLDialogElement): boolean {
  return dialog.querySelector('.dialog-body :is(input, select, textarea)') !== null
}
