import type { BezelClient } from '@bezel/sdk'
import { signal, type ReadonlySignal } from '@preact/signals'

/** A clock of this machine, and what is known about that of the service. */
export interface ServiceClock {
  /** The clock of this machine less that of the service, in milliseconds: positive when this one is ahead. */
  readonly offMs: ReadonlySignal<number>
  /** Returns the time of the service in epoch milliseconds. */
  now(): number
  /**
   * Measures the difference. Of several measurements the one with the fastest answer of the last ten minutes counts.
   */
  measure(client: Pick<BezelClient, 'time'>): Promise<void>
  /** Measures the difference unless it is known. A service that does not answer is no error here. */
  ensure(client: Pick<BezelClient, 'time'>): Promise<void>
}

/** Time after which a measurement is replaced even by a slower one, because clocks are set and drift. */
const MEASURED_MS = 600_000

/** A step of the clock of this machine that is no rounding: somebody set it. */
const STEP_MS = 2_000

/** Creates a clock. `wallNow` is the clock of the machine, `steadyNow` one that nobody sets. */
export function createServiceClock(
  wallNow: () => number = Date.now,
  steadyNow: () => number = () => performance.now(),
): ServiceClock {
  const offMs = signal(0)
  let best: { readonly tripMs: number; readonly atMs: number; readonly wallAtMs: number } | undefined

  /**
   * Returns true when the clock of the machine was set since the best measurement, which then says nothing any more.
   */
  function wasSet(): boolean {
    if (best === undefined) return true
    return Math.abs(wallNow() - best.wallAtMs - (steadyNow() - best.atMs)) > STEP_MS
  }

  async function measure(client: Pick<BezelClient, 'time'>): Promise<void> {
    const startMs = steadyNow()
    const wallMs = wallNow()
    const serverMs = await client.time()
    const tripMs = steadyNow() - startMs
    const isOld = best !== undefined && startMs - best.atMs > MEASURED_MS
    if (best !== undefined && tripMs > best.tripMs && !isOld && !wasSet()) return
    best = { tripMs, atMs: startMs, wallAtMs: wallMs }
    offMs.value = Math.round(wallMs + tripMs / 2) - serverMs
  }

  return {
    offMs,
    now: () => wallNow() - offMs.peek(),
    measure,
    async ensure(client) {
      if (wasSet()) await measure(client).catch(() => undefined)
    },
  }
}

const clock = createServiceClock()

/** The clock of this machine less that of the service, in milliseconds: positive when this one is ahead. */
export const clockOffMs: ReadonlySignal<number> = clock.offMs

/**
 * Returns the time of the service in epoch milliseconds. Signatures and ages use it, so that a wrong clock does no
 * harm.
 */
export const serverNow = (): number => clock.now()

/** Measures the difference of the clocks. */
export const measureClock = (client: Pick<BezelClient, 'time'>): Promise<void> => clock.measure(client)

/** Measures the difference of the clocks unless it is known, before something is signed. */
export const ensureClock = (client: Pick<BezelClient, 'time'>): Promise<void> => clock.ensure(client)
