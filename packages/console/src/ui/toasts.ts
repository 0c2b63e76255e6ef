import { signal, type ReadonlySignal } from '@preact/signals'

export interface ToastInput {
  readonly tone: 'good' | 'bad' | 'warn' | 'info'
  readonly title: string
  readonly body?: string | undefined
  /** Time until it goes away by itself; 0 for never. Default 6 s, and 15 s for what went wrong. */
  readonly ttlMs?: number | undefined
  /** A page of the console that shows more. */
  readonly link?: { readonly to: string; readonly label: string } | undefined
  /** A newer toast with the same key replaces the older one, for instance `order-12`. */
  readonly key?: string | undefined
}

export interface Toast extends ToastInput {
  readonly id: number
}

/** Greatest number of toasts at once; the oldest one makes room. */
export const MAX_TOASTS = 4

const DONE_TTL_MS = 6_000
const WRONG_TTL_MS = 15_000
/** Longest time for which a toast stays under the pointer. */
const HELD_MS = 20_000

const shown = signal<readonly Toast[]>([])
const timers = new Map<number, ReturnType<typeof setTimeout>>()
let lastId = 0

/** The toasts on screen, oldest first. */
export const toasts: ReadonlySignal<readonly Toast[]> = shown

/** Shows a message in the corner. Returns its id, for `dismissToast`. */
export function pushToast(input: ToastInput): number {
  lastId += 1
  const toast: Toast = { ...input, id: lastId }
  const others = shown.value.filter(({ key, id }) => {
    const isReplaced = key !== undefined && key === input.key
    if (isReplaced) stopTimer(id)
    return !isReplaced
  })
  const next = [...others, toast]
  for (const { id } of next.slice(0, -MAX_TOASTS)) stopTimer(id)
  shown.value = next.slice(-MAX_TOASTS)
  startTimer(toast)
  return toast.id
}

/** Takes a toast away. One that is gone already is left alone. */
export function dismissToast(id: number): void {
  stopTimer(id)
  shown.value = shown.value.filter((toast) => toast.id !== id)
}

/**
 * Keeps a toast on screen longer, as while the pointer rests on it. Not for ever: it may lie over something that the
 * pointer came for.
 */
export function holdToast(id: number): void {
  if (!timers.has(id)) return
  stopTimer(id)
  timers.set(id, setTimeout(dismissToast, HELD_MS, id))
}

/** Lets a toast that was held go away in its time. */
export function releaseToast(id: number): void {
  const toast = shown.value.find((candidate) => candidate.id === id)
  if (toast !== undefined) startTimer(toast)
}

function startTimer({ id, tone, ttlMs = tone === 'bad' || tone === 'warn' ? WRONG_TTL_MS : DONE_TTL_MS }: Toast): void {
  stopTimer(id)
  if (ttlMs > 0) timers.set(id, setTimeout(dismissToast, ttlMs, id))
}

function stopTimer(id: number): void {
  clearTimeout(timers.get(id))
  timers.delete(id)
}
