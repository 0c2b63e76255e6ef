import type { BezelClient, OrderPreview, PreviewOptions } from '@bezel/sdk'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { account } from '../data/account.ts'
import { accountClient } from '../data/client.ts'
import { problemOf, type Problem } from '../ground/problem.ts'
import { activeAgent } from '../session/sessionAgent.ts'

type Previewed = Pick<OrderPreview, 'missing'>

/** A preview as it is shown. The last one stays on screen while a newer one is asked for, so that nothing jumps. */
export interface PreviewState<Preview extends Previewed> {
  readonly preview: Preview | null
  readonly problem: Problem | null
  readonly isAsking: boolean
}

/** Returns true once a request can be sent: it was previewed as it stands now, and nothing is missing. */
export function isSendable({ preview, problem, isAsking }: PreviewState<Previewed>): boolean {
  return preview !== null && problem === null && !isAsking && preview.missing.length === 0
}

/** Debounces what is typed, in milliseconds. */
const DEBOUNCE_MS = 250

/** Time after which a preview is asked for again, because prices move. */
const RENEW_MS = 5_000

/**
 * Asks the service for a preview whenever `key` or the account changes, and again every few seconds. The key
 * names all inputs of the preview; null asks for nothing. An answer that a newer question has overtaken is dropped.
 */
export function usePreview<Preview extends Previewed>(
  key: string | null,
  ask: (client: BezelClient, options: PreviewOptions) => Promise<Preview>,
): PreviewState<Preview> {
  const state = useSignal<PreviewState<Preview>>({ preview: null, problem: null, isAsking: false })
  const client = accountClient.value
  const agent = activeAgent.value
  const wallet = account.value
  useEffect(() => {
    if (key === null || client === null) {
      state.value = { preview: null, problem: null, isAsking: false }
      return
    }
    let isOver = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const run = async (): Promise<void> => {
      try {
        const preview = await ask(client, agent === null ? {} : { agent })
        if (!isOver) state.value = { preview, problem: null, isAsking: false }
      } catch (error) {
        if (!isOver) state.value = { preview: null, problem: problemOf(error), isAsking: false }
      }
      if (!isOver) timer = setTimeout(() => void run(), RENEW_MS)
    }
    state.value = { ...state.peek(), problem: null, isAsking: true }
    timer = setTimeout(() => void run(), DEBOUNCE_MS)
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [key, client, agent, wallet])
  return state.value
}
