import { backoffMs } from '../../ground/backoff.ts'
import { ProviderError, type ProviderFault } from './refusals.ts'

/** The state of a provider, as the log, `/ready` and the metrics name it. */
export type ProviderState =
  | 'ok'
  | ProviderFault
  /** The newest block there is far behind that of another provider. */
  | 'behind'
  /** Logs that another provider has were left out there, or its answers could not be used, a moment ago. */
  | 'incomplete'
  /** Another block is final there than on the others; the provider is not asked until it has the same. */
  | 'differs'
  /** A request waits there that another provider answered. */
  | 'slow'

/** The health of one provider, judged by its answers. */
export interface ProviderHealth {
  state(): ProviderState
  /** Returns the reason of the last failure; `undefined` while all is well. */
  reason(): string | undefined
  /** Returns the time until which the provider is left alone, in milliseconds of the clock. */
  restUntilMs(): number
  /** Returns for how long every request has failed. */
  failingMs(): number
  /** Returns the time after which a request of so many calls takes longer than usual. */
  hedgeMs(calls: number): number
  succeeded(calls: number, tookMs: number): void
  failed(error: unknown): void
  /** Notes that another provider answered a request sooner, which this one still has. */
  lost(): void
  setBehind(isBehind: boolean): void
  /** Notes that answers arrive which leave out logs, or can't be used. This counts for a while. */
  distrust(reason: string): void
  setDiffers(reason: string | undefined): void
}

export interface ProviderHealthOptions {
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number
  readonly random: () => number
  /** Told of every change. */
  readonly onChange: (state: ProviderState, reason: string | undefined) => void
}

/** Wait before a provider on another chain is asked again. */
const WRONG_CHAIN_MS = 5_000

/** Time for which a provider that left out logs, or said what can't be used, is not preferred. */
const INCOMPLETE_MS = 60_000

/** Number of latencies of which the slowest twentieth is taken. */
const SAMPLES = 64

/** Number of latencies below which the usual time is not known. */
const MIN_SAMPLES = 10

/** The usual time while it is not known. */
const UNKNOWN_MS = 1_000

/** The shortest wait before a second provider is asked: below it, chance decides. */
const MIN_HEDGE_MS = 50

/** Number of calls from which on a batch counts as a large one, which takes longer. */
const LARGE_CALLS = 20

/** The reasons of states that no error explains. */
const REASONS: Partial<Record<ProviderState, string>> = {
  behind: 'its newest block is far behind that of another provider',
  slow: 'another provider answered a request that this one still has',
}

export function createProviderHealth({ now, random, onChange }: ProviderHealthOptions): ProviderHealth {
  let fault: ProviderFault | undefined
  let reason: string | undefined
  let failures = 0
  let failingSinceMs = 0
  let restUntilMs = Number.NEGATIVE_INFINITY
  const flags = { isBehind: false, isSlow: false }
  const reasons: Partial<Record<ProviderState, string | undefined>> = { ...REASONS }
  let incompleteUntilMs = Number.NEGATIVE_INFINITY
  let told: ProviderState = 'ok'
  const latencies = { small: createLatencies(), large: createLatencies() }
  const latenciesOf = (calls: number) => (calls < LARGE_CALLS ? latencies.small : latencies.large)

  function state(): ProviderState {
    if (reasons.differs !== undefined) return 'differs'
    if (fault !== undefined) return fault
    if (now() < incompleteUntilMs) return 'incomplete'
    if (flags.isBehind) return 'behind'
    return flags.isSlow ? 'slow' : 'ok'
  }

  const reasonNow = (): string | undefined => reasons[state()] ?? reason

  function tell(): void {
    const current = state()
    if (current === told) return
    told = current
    onChange(current, reasonNow())
  }

  return {
    state,
    reason: reasonNow,
    restUntilMs: () => restUntilMs,
    failingMs: () => (failures === 0 ? 0 : now() - failingSinceMs),
    hedgeMs: (calls) => Math.max(MIN_HEDGE_MS, latenciesOf(calls).slowest() ?? UNKNOWN_MS),
    succeeded(calls, tookMs) {
      latenciesOf(calls).add(tookMs)
      fault = undefined
      reason = undefined
      failures = 0
      flags.isSlow = false
      restUntilMs = Number.NEGATIVE_INFINITY
      tell()
    },
    failed(error) {
      fault = error instanceof ProviderError ? error.fault : 'away'
      reason = error instanceof Error ? error.message : String(error)
      const asked = error instanceof ProviderError ? error.retryAfterMs : undefined
      const waitMs = fault === 'wrong_chain' ? WRONG_CHAIN_MS : (asked ?? backoffMs(failures, random()))
      restUntilMs = now() + waitMs
      if (failures === 0) failingSinceMs = now()
      failures += 1
      tell()
    },
    lost() {
      flags.isSlow = true
      tell()
    },
    setBehind(isBehind) {
      flags.isBehind = isBehind
      tell()
    },
    distrust(why) {
      reasons.incomplete = why
      incompleteUntilMs = now() + INCOMPLETE_MS
      tell()
    },
    setDiffers(differs) {
      reasons.differs = differs
      tell()
    },
  }
}

/** The last latencies of a provider. */
function createLatencies(): { add(ms: number): void; slowest(): number | undefined } {
  const samples: number[] = []
  let at = 0
  return {
    add(ms) {
      samples[at] = ms
      at = (at + 1) % SAMPLES
    },
    /** Returns the time that nineteen of twenty requests took at most. */
    slowest() {
      if (samples.length < MIN_SAMPLES) return undefined
      return samples.toSorted((a, b) => a - b)[Math.floor(samples.length * 0.95)]
    },
  }
}
