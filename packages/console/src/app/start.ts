import { effect, signal, untracked, type ReadonlySignal } from '@preact/signals'
import { activeChain, chooseChain } from '../data/chain.ts'
import { serverNow } from '../data/now.ts'
import { settings } from '../data/settings.ts'
import { problemOf, type Problem } from '../ground/problem.ts'
import { startConsole } from '../session/start.ts'
import { setClock } from '../ui/clock.ts'
import { pushToast } from '../ui/toasts.ts'
import { route, setQuery } from '../router/router.ts'

/** How far the page has come. */
export type StartState =
  { readonly kind: 'starting' } | { readonly kind: 'started' } | { readonly kind: 'failed'; readonly problem: Problem }

const state = signal<StartState>({ kind: 'starting' })

/** How far the page has come. Views are drawn once it has started, since all of them need the settings. */
export const startState: ReadonlySignal<StartState> = state

/** Pause before the next attempt, so that the page comes up by itself once the service does. */
const RETRY_MS = 3_000

/** Starts what is behind the page, again and again until it succeeds. Call it once. */
export function start(): void {
  setClock(serverNow)
  void attempt()
}

/** Makes the next attempt now. */
export function startAgain(): void {
  clearTimeout(retry)
  void attempt()
}

let retry: ReturnType<typeof setTimeout> | undefined

async function attempt(): Promise<void> {
  try {
    await startConsole()
    state.value = { kind: 'started' }
    effect(followChainOfAddress)
  } catch (error) {
    state.value = { kind: 'failed', problem: problemOf(error) }
    retry = setTimeout(startAgain, RETRY_MS)
  }
}

/** Shows another chain when the address names one, as after a step back in the history. */
function followChainOfAddress(): void {
  const named = route.value.query['chain']
  if (named === undefined || named === untracked(() => activeChain.value)) return
  if (untracked(() => chooseChain(named))) return
  const offered = settings.peek()?.chains.map(({ slug }) => slug) ?? []
  pushToast({
    tone: 'warn',
    title: `This service does not serve the chain ${named}`,
    body: `It serves ${offered.join(', ')}. You see ${activeChain.peek()}.`,
    key: 'chain',
  })
  untracked(() => setQuery({ chain: null }))
}
