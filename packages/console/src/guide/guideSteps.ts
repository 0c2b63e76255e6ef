import type { Order } from '@bezel/sdk'

/** Memory of the guide in this browser, which outlives a reload. */
export type GuideMemory =
  | { readonly status: 'done' | 'skipped' }
  | {
      readonly status: 'running'
      /** The last step that was reached. A step that was done stays done, wherever the user goes meanwhile. */
      readonly reached: GuideStep
      /** Trader who follows the guide. Another one begins anew; null until somebody is signed in. */
      readonly trader: string | null
      /** Orders made before this time of the service do not count; null until somebody is signed in. */
      readonly sinceMs: number | null
      /** The position that the guided order opened; null before. */
      readonly positionId: string | null
      /** True once that position was seen open: its fill may be told a moment before it. */
      readonly wasSeen: boolean
      /** Fate of an order that did not fill, in a sentence; null when nothing went wrong. */
      readonly setback: string | null
    }

/** The five steps: wallet, market, order, fill, close. */
export type GuideStep = 1 | 2 | 3 | 4 | 5

/** The part of an order that the guide looks at. */
export type GuidedOrder = Pick<Order, 'id' | 'status' | 'type' | 'reduceOnly' | 'createdAt' | 'fill'>

/** Present facts of the page, by which the guide goes. */
export interface GuideFacts {
  readonly isSignedIn: boolean
  /** Address of the connected wallet; null while none is. */
  readonly trader: string | null
  /** Name of the view that is shown. */
  readonly view: string
  /** Orders, newest first; null until they are known. */
  readonly orders: readonly GuidedOrder[] | null
  /** Ids of the open positions; null until they are known. */
  readonly positionIds: readonly string[] | null
  /** Time of the service. */
  readonly nowMs: number
}

type Running = Extract<GuideMemory, { status: 'running' }>

/** The guide at its beginning. */
export const FIRST_STEP: Running = {
  status: 'running',
  reached: 1,
  trader: null,
  sinceMs: null,
  positionId: null,
  wasSeen: false,
  setback: null,
}

/** Clocks of page and service may differ by this much, so an order may look older than the guide. */
const TOLERANCE_MS = 5_000

const SENT: ReadonlySet<Order['status']> = new Set(['pending', 'open', 'filled'])

const FAILED: Readonly<Partial<Record<Order['status'], string>>> = {
  rejected: 'The contracts refused that order; its timeline says why. Send another one.',
  timed_out:
    'The oracle did not answer that order in time. Get the collateral back with Reclaim, then send another one.',
  canceled: 'That order was cancelled before it filled. Send another one.',
}

/**
 * Returns the memory after what happened. It changes by facts only, never by a click of its own, and returns the same
 * object when nothing changed.
 */
export function advance(memory: GuideMemory, facts: GuideFacts): GuideMemory {
  let now = memory
  // Each pass does one step: after a reload several may be due at once.
  for (let next = oneStep(now, facts); next !== now; next = oneStep(now, facts)) now = next
  return now
}

function oneStep(memory: GuideMemory, facts: GuideFacts): GuideMemory {
  if (memory.status !== 'running') return memory
  if (memory.trader !== null && facts.isSignedIn && memory.trader !== facts.trader) return FIRST_STEP
  switch (memory.reached) {
    case 1:
      return facts.isSignedIn
        ? { ...FIRST_STEP, reached: 2, trader: facts.trader, sinceMs: facts.nowMs - TOLERANCE_MS }
        : memory
    case 2:
      return facts.isSignedIn && facts.view === 'trade' ? { ...memory, reached: 3 } : memory
    case 3:
      return ordersOf(memory, facts).some(({ status }) => SENT.has(status))
        ? { ...memory, reached: 4, setback: null }
        : noteSetback(memory, facts)
    case 4:
      return fillOrSetback(memory, facts)
    case 5:
      return closeOrSight(memory, facts)
  }
}

function fillOrSetback(memory: Running, facts: GuideFacts): GuideMemory {
  const orders = ordersOf(memory, facts)
  const filled = orders.find(({ status, fill }) => status === 'filled' && fill !== null && fill.positionId !== null)
  if (filled !== undefined) return { ...memory, reached: 5, positionId: filled.fill?.positionId ?? null, setback: null }
  const isWaiting = facts.orders === null || orders.some(({ status }) => SENT.has(status) || status === 'prepared')
  return isWaiting ? memory : noteSetback({ ...memory, reached: 3 }, facts)
}

/** Tells of an order that failed, and counts only later ones from then on. */
function noteSetback(memory: Running, facts: GuideFacts): Running {
  const failed = ordersOf(memory, facts).find(({ status }) => FAILED[status] !== undefined)
  if (failed === undefined) return memory
  return { ...memory, sinceMs: failed.createdAt + 1, setback: FAILED[failed.status] ?? null }
}

/** Returns the orders of the guide that open something, newest first. */
function ordersOf({ sinceMs }: Running, { orders, isSignedIn }: GuideFacts): readonly GuidedOrder[] {
  if (!isSignedIn || orders === null || sinceMs === null) return []
  return orders.filter(({ createdAt, reduceOnly }) => createdAt >= sinceMs && !reduceOnly)
}

function closeOrSight(memory: Running, { positionIds, orders, isSignedIn }: GuideFacts): GuideMemory {
  const { positionId, wasSeen } = memory
  if (!isSignedIn || positionIds === null || positionId === null) return memory
  if (positionIds.includes(positionId)) return wasSeen ? memory : { ...memory, wasSeen: true }
  const wasClosed = (orders ?? []).some(({ reduceOnly, fill }) => reduceOnly && fill?.positionId === positionId)
  return wasSeen || wasClosed ? { status: 'done' } : memory
}

/**
 * Returns the step to show: the one that was reached, or an earlier one whose ground was left, such as the wallet after
 * a disconnect.
 */
export function shownStep({ reached }: Running, { isSignedIn, view }: GuideFacts): GuideStep {
  if (!isSignedIn) return 1
  return reached <= 3 && view !== 'trade' ? 2 : reached
}

/** Reads what was remembered. Anything else than a memory begins anew. */
export function readMemory(stored: unknown): GuideMemory {
  const found = stored as Partial<Running> | { readonly status: 'done' | 'skipped' } | null | undefined
  if (found?.status === 'done' || found?.status === 'skipped') return { status: found.status }
  const isRunning = found?.status === 'running' && [1, 2, 3, 4, 5].includes(found.reached ?? 0)
  return isRunning ? { ...FIRST_STEP, ...found } : FIRST_STEP
}
