import { useEffect } from 'preact/hooks'
import { useSignal } from '@preact/signals'
import { Icon } from './Icon.tsx'

export interface CopyTextProps {
  /** Text that is copied. */
  readonly text: string
  /** Text that is shown, for instance a shortened address. Default the whole. */
  readonly label?: string | undefined
  readonly testId?: string | undefined
}

/** Time for which the button says that it has copied. */
const SAID_MS = 1500

/** A text that a click copies. */
export function CopyText({ text, label = text, testId }: CopyTextProps) {
  const state = useSignal<'idle' | 'copied' | 'failed'>('idle')
  const now = state.value
  useEffect(() => {
    if (now === 'idle') return
    const timer = setTimeout(() => (state.value = 'idle'), SAID_MS)
    return () => clearTimeout(timer)
  }, [now])
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      state.value = 'copied'
    } catch {
      state.value = 'failed'
    }
  }
  return (
    <button type="button" class="copy" title={`Copy ${text}`} data-testid={testId} onClick={() => void copy()}>
      <span class="copy-text">{label}</span>
      <Icon name={now === 'copied' ? 'check' : 'copy'} />
      <span class="visually-hidden" role="status">
        {now === 'copied' ? 'Copied' : now === 'failed' ? 'The browser refused to copy; select the text instead' : ''}
      </span>
    </button>
  )
}
