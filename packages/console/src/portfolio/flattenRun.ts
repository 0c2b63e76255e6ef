import { BatchNotDoneError, type CloseAllOptions, type Order } from '@bezel/sdk'
import { signal, type ReadonlySignal } from '@preact/signals'
import { runAction } from '../session/act.ts'
import { leftoversOf, progressOf, type FlattenProgress, type Leftover } from './flattenPlan.ts'

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

const POLL_MS = 500

/**
 * Ends all orders and closes all positions, of one market or of all, and waits until each has ended. What is left open
 * is named. A failure before anything was sent is the problem of the action.
 */
export async function flatten(options: CloseAllOptions): Promise<void> {
  // An action whose account was switched goes on unseen; what it tells then is dropped.
  let isOver = false
  const tell = (stage: FlattenRun): void => {
    if (!isOver) run.value = stage
  }
  const done = await runAction(FLATTEN, async (client, guard) => {
    tell({ stage: 'sending' })
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
  if (done === undefined && run.peek().stage !== 'done') run.value = { stage: 'idle' }
}

/** Forgets a flatten that is done, so that the next one begins with its plan. */
export function forgetFlatten(): void {
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
