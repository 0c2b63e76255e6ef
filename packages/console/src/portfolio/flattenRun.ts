import { BatchNotDoneError, type CloseAllOptions, type Order } from '@bezel/sdk'
import { computed, signal, type ReadonlySignal } from '@preact/signals'
import { activeChain } from '../data/chain.ts'
import { identity } from '../data/client.ts'
import { readStored, tabStore, writeStored } from '../data/storage.ts'
import { runAction } from '../session/act.ts'
import { leftoversOf, progressOf, type EndedThing, type FlattenProgress, type Leftover } from './flattenPlan.ts'

/** Name of the action. */
export const FLATTEN = 'flatten'

/** A flatten under way or done. It outlives its dialog, so that closing the dialog loses nothing. */
export type FlattenRun =
  | { readonly stage: 'idle' }
  | { readonly stage: 'sending' }
  | { readonly stage: 'waiting'; readonly progress: FlattenProgress }
  | { readonly stage: 'done'; readonly progress: FlattenProgress; readonly leftovers: readonly Leftover[] }

const run = signal<FlattenRun>({ stage: 'idle' })

/** The flatten of this page. */
export const flattenRun: ReadonlySignal<FlattenRun> = run

/** A flatten that is remembered while it runs, so that a reload in the middle does not lose sight of it. */
export interface FlattenMemory {
  readonly options: CloseAllOptions
  /** Things that it was to end. */
  readonly things: readonly EndedThing[]
}

/** Grows whenever the memory changes. */
const changes = signal(0)

/** The name under which the flatten of the account that is shown is remembered; null while no account is. */
const storedName = computed(() =>
  identity.value === null ? null : `flatten ${activeChain.value} ${identity.value.trader}`,
)

/** The flatten of the account that a reload has interrupted; null when there is none. */
export const interruptedFlatten: ReadonlySignal<FlattenMemory | null> = computed(() => {
  void changes.value
  if (storedName.value === null || run.value.stage !== 'idle') return null
  const found = readStored(tabStore, storedName.value) as FlattenMemory | null
  return Array.isArray(found?.things) ? found : null
})

function remember(name: string | null, memory: FlattenMemory | null): void {
  if (name !== null) writeStored(tabStore, name, memory)
  changes.value += 1
}

/** True once the page is being left. Requests that the browser gives up then are no failure of the flatten. */
let isLeaving = false

if (typeof addEventListener !== 'undefined' && typeof document !== 'undefined') {
  addEventListener('beforeunload', () => (isLeaving = true))
}

const POLL_MS = 500

/**
 * Ends all orders and closes all positions, of one market or of all, and waits until each has ended. What is left open
 * is named. A failure before anything was sent is the problem of the action. `things` are those that are open now.
 */
export async function flatten(options: CloseAllOptions, things: readonly EndedThing[]): Promise<void> {
  const name = storedName.peek()
  isLeaving = false
  // An action whose account was switched goes on unseen; what it tells then is dropped.
  let isOver = false
  const tell = (stage: FlattenRun): void => {
    if (!isOver) run.value = stage
  }
  const done = await runAction(FLATTEN, async (client, guard) => {
    tell({ stage: 'sending' })
    remember(name, { options, things })
    const sent = await client.flatten(options)
    guard()
    const first = sent.orders.map(({ order }) => order)
    const latest = new Map<string, Order>()
    const show = (): void => tell({ stage: 'waiting', progress: progressOf(first, latest) })
    show()
    const onProgress = (order: Order): void => {
      latest.set(order.id, order)
      show()
    }
    const missed = await missedOf(sent.wait({ pollMs: POLL_MS, onProgress }))
    const progress = { total: first.length, ended: first.length }
    tell({ stage: 'done', progress, leftovers: leftoversOf(sent.leftOut, missed) })
    return true
  })
  isOver = true
  if (done !== undefined || !isLeaving) remember(name, null)
  if (done === undefined && run.peek().stage !== 'done') run.value = { stage: 'idle' }
}

/** Forgets a flatten that is done or was interrupted, so that the next one begins with its plan. */
export function forgetFlatten(): void {
  if (interruptedFlatten.peek() !== null) remember(storedName.peek(), null)
  if (run.peek().stage === 'done') run.value = { stage: 'idle' }
}

async function missedOf(waiting: Promise<unknown>): Promise<readonly Order[]> {
  try {
    await waiting
    return []
  } catch (error) {
    if (error instanceof BatchNotDoneError) return error.missed
    throw error
  }
}
