import { Badge } from './Badge.tsx'
import { Button } from './Button.tsx'
import { Icon } from './Icon.tsx'
import { dismissToast, holdToast, releaseToast, toasts, type Toast } from './toasts.ts'

const WORDS = { good: 'Done', bad: 'Problem', warn: 'Attention', info: 'Note' } as const

/** The toasts in the corner. The region exists from the start, so that screen readers notice what is put into it. */
export function Toasts({ navigate }: { readonly navigate: (path: string) => void }) {
  return (
    <section class="toasts" aria-label="Messages" aria-live="polite" aria-relevant="additions">
      {toasts.value.map((toast) => (
        <ToastCard key={toast.id} toast={toast} navigate={navigate} />
      ))}
    </section>
  )
}

function ToastCard({ toast, navigate }: { readonly toast: Toast; readonly navigate: (path: string) => void }) {
  const { id, tone, title, body, link } = toast
  return (
    <div
      class={`toast toast-${tone}`}
      data-testid="toast"
      onMouseMove={(event) => {
        // A message that appears below a pointer at rest is not read by it, and must not stay in its way.
        if (event.movementX !== 0 || event.movementY !== 0) holdToast(id)
      }}
      onMouseLeave={() => releaseToast(id)}
      onFocusIn={() => holdToast(id)}
      onFocusOut={() => releaseToast(id)}
    >
      <Badge tone={tone}>{WORDS[tone]}</Badge>
      <div class="toast-text">
        <strong>{title}</strong>
        {body !== undefined && <p>{body}</p>}
        {link !== undefined && (
          <a
            href={link.to}
            onClick={(event) => {
              event.preventDefault()
              dismissToast(id)
              navigate(link.to)
            }}
          >
            {link.label}
          </a>
        )}
      </div>
      <Button kind="quiet" small label="Dismiss" onClick={() => dismissToast(id)}>
        <Icon name="close" />
      </Button>
    </div>
  )
}
