import { randomInt } from 'node:crypto'
import type { LimitScope } from '../settings/config.ts'
import { LIMIT_WINDOW_MS, tighterAnswer, type LimitAnswer, type LimitBucket, type Limits } from './limits.ts'

/** Counters per kind of client, about 10 MB when full. More clients than that in one minute are a flood. */
const MAX_KEYS = 100_000

/** Weight per window that the clients beyond the maximum share, if their addresses lie near: that of ten clients. */
const CROWD_LIMIT = 6_000

/** Number of counters for the clients beyond the maximum, of each kind. */
const CROWDS = 65_536

/** Settings of the counters. */
export interface InProcessLimitsOptions {
  /** Clients with a counter of their own, per kind and window. Default 100,000. */
  readonly maxKeys?: number
  /** Weight per window of all further clients of one wide network together. Default 6,000. */
  readonly crowdLimit?: number
  /** Called once per kind and window when the maximum is reached, so that an operator learns of the flood. */
  readonly onCrowded?: (scope: LimitScope) => void
}

/** Limits that answer synchronously. */
export interface InProcessLimits extends Limits {
  take(buckets: readonly LimitBucket[], nowMs: number, weight?: number): LimitAnswer
}

/**
 * Kinds of clients, each with counters of its own: IPv4 addresses, the three levels of IPv6 networks, and agents. A
 * flood of one kind takes no counter from another.
 */
type ClientKind = LimitScope | 'ip/64' | 'ip/56' | 'ip/48'

/** The counters of one kind in the current window. */
interface Counters {
  readonly byKey: Map<string, number>
  /** Weight used by clients without a counter of their own, by `crowdOf`; `undefined` while there are none. */
  crowds: Uint32Array | undefined
}

/**
 * Creates limits whose counters are in the memory of this process. All counters are dropped at once when a new minute
 * starts.
 *
 * Once `maxKeys` clients of a kind were seen in a window, those keep their own counters, and the others share a counter
 * with their neighbours: the IPv4 /16 or the IPv6 /32 that they lie in. Letting the others pass uncounted would lift
 * the limit for a sender with countless addresses. Refusing them all, or one counter for all, would let that sender
 * lock out every newcomer; so it locks out only those of its own provider, until the minute turns.
 */
export function createInProcessLimits(options: InProcessLimitsOptions = {}): InProcessLimits {
  const { maxKeys = MAX_KEYS, crowdLimit = CROWD_LIMIT, onCrowded } = options
  let window = 0
  let counters = emptyCounters()

  /**
   * Starts a new window when the minute has changed. A slow request may bring a time of the previous window and counts
   * in the current one; only a clock that is set back further starts over.
   */
  function enterWindow(nowMs: number): void {
    const next = Math.floor(nowMs / LIMIT_WINDOW_MS)
    if (next === window || next === window - 1) return
    window = next
    counters = emptyCounters()
  }

  function remainingOf({ scope, key, limit }: LimitBucket): number {
    const { byKey, crowds } = counters[kindOf(scope, key)]
    const used = byKey.get(key)
    if (used !== undefined) return Math.max(0, limit - used)
    if (byKey.size < maxKeys) return limit
    return Math.max(0, Math.min(limit, crowdLimit - (crowds?.[crowdOf(scope, key)] ?? 0)))
  }

  function charge({ scope, key }: LimitBucket, weight: number): void {
    const counter = counters[kindOf(scope, key)]
    const used = counter.byKey.get(key)
    if (used !== undefined || counter.byKey.size < maxKeys) counter.byKey.set(key, (used ?? 0) + weight)
    else crowdsOf(scope, counter)[crowdOf(scope, key)]! += weight
  }

  function crowdsOf(scope: LimitScope, counter: Counters): Uint32Array {
    if (counter.crowds === undefined) onCrowded?.(scope)
    counter.crowds ??= new Uint32Array(CROWDS)
    return counter.crowds
  }

  function answer(buckets: readonly LimitBucket[], nowMs: number, isAllowed: boolean): LimitAnswer {
    const resetSeconds = secondsUntil((window + 1) * LIMIT_WINDOW_MS, nowMs)
    const answerOf = (bucket: LimitBucket): LimitAnswer => ({
      isAllowed,
      scope: bucket.scope,
      limit: bucket.limit,
      remaining: remainingOf(bucket),
      resetSeconds,
    })
    return buckets.map(answerOf).reduce(tighterAnswer)
  }

  return {
    take(buckets, nowMs, weight = 1) {
      enterWindow(nowMs)
      if (buckets.some((bucket) => remainingOf(bucket) < weight)) return answer(buckets, nowMs, false)
      for (const bucket of buckets) charge(bucket, weight)
      return answer(buckets, nowMs, true)
    },
  }
}

const SLASH = '/'.charCodeAt(0)

/** Returns the kind of a client. The key of an IPv6 network ends with the length of its prefix; no other key does. */
function kindOf(scope: LimitScope, key: string): ClientKind {
  if (scope !== 'ip' || key.charCodeAt(key.length - 3) !== SLASH) return scope
  return `ip${key.slice(-3)}` as ClientKind
}

/** The start of the hash. Drawn anew by each process, so that nobody can choose whose counter to share. */
const HASH_SEED = randomInt(2 ** 32)

/** Returns the number of the counter that a client shares with its neighbours: a hash (FNV-1a) of their network. */
function crowdOf(scope: LimitScope, key: string): number {
  let hash = HASH_SEED
  const end = scope === 'ip' ? secondSeparator(key) : key.length
  for (let at = 0; at < end; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193)
  return (hash ^ (hash >>> 16)) & (CROWDS - 1)
}

/** Returns the place behind the first two parts of an address: the /16 of IPv4, the /32 of IPv6. */
function secondSeparator(address: string): number {
  const separator = address.includes(':') ? ':' : '.'
  const second = address.indexOf(separator, address.indexOf(separator) + 1)
  return second === -1 ? address.length : second
}

/**
 * Returns the seconds to the end of the window, rounded up so that a client that waits that long is in the next one.
 * Never more than a window, even when `nowMs` lies in the previous one.
 */
function secondsUntil(endMs: number, nowMs: number): number {
  return Math.ceil(Math.min(LIMIT_WINDOW_MS, endMs - nowMs) / 1000)
}

function emptyCounters(): Record<ClientKind, Counters> {
  const empty = (): Counters => ({ byKey: new Map(), crowds: undefined })
  return {
    ip: empty(),
    'ip/64': empty(),
    'ip/56': empty(),
    'ip/48': empty(),
    agent: empty(),
    'agent-writes': empty(),
  }
}
