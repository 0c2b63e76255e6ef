import { every } from '../ground/every.ts'
import { createInProcessLimits, type InProcessLimits } from './inProcessLimits.ts'
import { LIMIT_WINDOW_MS, tighterAnswer, type LimitAnswer, type LimitBucket, type Limits } from './limits.ts'
import { RedisUnavailableError } from './redisLink.ts'
import {
  windowName,
  type RedisAdmission,
  type RedisAdmitted,
  type RedisNonce,
  type RedisScripts,
  type RedisUse,
} from './redisScripts.ts'

/** Pause between two reports of what was counted here. */
const REPORT_MS = 20

/** Part of an IP's limit up to which it is counted here and reported; the rest is asked for, request by request. */
const COUNTED_HERE = 0.75

/** Networks that are reported in one window. More are a flood, and are counted in this process only. */
const MAX_SHARED_KEYS = 20_000

/** Names in one report, so that no script keeps the server for long. */
const MAX_REPORTED = 1_000

/** Limits that several nodes share by Redis. */
export interface RedisLimits extends Limits {
  /** Charges a request and uses up its nonce in Redis, in one trip. */
  admit(request: LimitedRequest, nowMs: number): Promise<LimitedAdmission>
  close(): Promise<void>
}

/** A request to charge. */
export interface LimitedRequest {
  readonly buckets: readonly LimitBucket[]
  readonly weight: number
  readonly nonce?: RedisAdmission['nonce']
}

/** The outcome of both. */
export interface LimitedAdmission {
  readonly answer: LimitAnswer
  /** `undefined` when Redis was not asked for the nonce, or did not answer. */
  readonly nonce: RedisNonce | undefined
}

/** The use of one network in the current window. */
interface Use {
  /** Weight that all nodes had used when Redis last told. */
  told: number
  /** Weight that was used here since. */
  unreported: number
}

export interface RedisLimitsOptions {
  /** `undefined` where no Redis is configured. */
  readonly scripts: RedisScripts | undefined
  /** Name of what is counted, so that different limits of one client are apart. */
  readonly name: string
  /** Returns the number of nodes that serve now, at least 1. */
  readonly liveNodes: () => number
  readonly now: () => number
}

/**
 * Creates limits that several nodes share. Without Redis, and while it can't be used, each node counts for itself and
 * allows its part: the limit divided by the number of live nodes. Such a count begins anew, so a client may use up to
 * twice its limit in the minute in which Redis went away.
 *
 * Agents and keys are charged by Redis, in the one trip of their request. An IP is charged before anything is known of
 * its request, and waiting for Redis there would give every anonymous flood a trip per request. So an IP is counted
 * here and reported together with all others every 20 ms, up to three quarters of its limit; other nodes are taken to
 * have as much to report as this one. Only the last quarter is asked for, all or nothing, so that the limit holds
 * exactly for whoever takes longer than 20 ms for a quarter of it, and once it is used up, refusing needs no trip.
 */
export function createRedisLimits({ scripts, name, liveNodes, now }: RedisLimitsOptions): RedisLimits {
  const here = createInProcessLimits()
  const shared = createSharedUses(now)

  async function admit({ buckets, weight, nonce }: LimitedRequest, nowMs: number): Promise<LimitedAdmission> {
    if (scripts?.link.run() === undefined) return { answer: takeHere(buckets, nowMs, weight), nonce: undefined }
    try {
      const admitted = await scripts.admit({ buckets, weight, nonce })
      shared.learn(buckets.map(windowName), admitted)
      return { answer: answerOf(buckets, admitted), nonce: nonce && admitted.isAllowed ? admitted.nonce : undefined }
    } catch (error) {
      if (!(error instanceof RedisUnavailableError)) throw error
      return { answer: takeHere(buckets, nowMs, weight), nonce: undefined }
    }
  }

  async function ask(buckets: readonly LimitBucket[], nowMs: number, weight: number): Promise<LimitAnswer> {
    return (await admit({ buckets, weight }, nowMs)).answer
  }

  function takeHere(buckets: readonly LimitBucket[], nowMs: number, weight?: number): LimitAnswer {
    return takeShare(here, buckets, liveNodes(), nowMs, weight)
  }

  function takeOfIp(of: RedisScripts, buckets: readonly LimitBucket[], nowMs: number, weight: number) {
    const keys = buckets.map(windowName)
    const found = shared.usesOf(keys, nowMs)
    if (found === undefined) return takeHere(buckets, nowMs, weight)
    const usedOf = (at: number): number => found[at]!.told + found[at]!.unreported
    const isAbove = (part: number, others: number): boolean =>
      buckets.some(({ limit }, at) => usedOf(at) + found[at]!.unreported * others + weight > limit * part)
    const serverMs = shared.serverMs(nowMs)
    if (isAbove(1, 0)) return tightest(buckets, usedOf, { isAllowed: false, serverMs })
    if (isAbove(COUNTED_HERE, liveNodes() - 1)) {
      void shared.report(of, keys)
      return ask(buckets, nowMs, weight)
    }
    shared.count(keys, weight)
    return tightest(buckets, usedOf, { isAllowed: true, serverMs })
  }

  const named = (buckets: readonly LimitBucket[]): readonly LimitBucket[] =>
    buckets.map((bucket) => ({ ...bucket, key: `${name} ${bucket.key}` }))
  const reports = every(REPORT_MS, async () => {
    if (scripts?.link.run() !== undefined) await shared.report(scripts)
  })
  return {
    take(asked, nowMs, weight = 1) {
      const buckets = named(asked)
      if (scripts === undefined || scripts.link.run() === undefined) return takeHere(buckets, nowMs, weight)
      const isOfIp = buckets.every(({ scope }) => scope === 'ip')
      return isOfIp ? takeOfIp(scripts, buckets, nowMs, weight) : ask(buckets, nowMs, weight)
    },
    admit: (request, nowMs) => admit({ ...request, buckets: named(request.buckets) }, nowMs),
    async close() {
      await reports.close()
    },
  }
}

/** The use of windows in the current minute of the server, as far as it is known here. */
interface SharedUses {
  serverMs(nowMs: number): number
  /** Returns the use of each window; `undefined` when there are too many clients to keep one for each. */
  usesOf(keys: readonly string[], nowMs: number): readonly Readonly<Use>[] | undefined
  count(keys: readonly string[], weight: number): void
  /** Learns what was used. An answer of another minute than the current one says nothing of it. */
  learn(keys: readonly string[], answer: RedisUse): void
  /**
   * Tells Redis what was used here, by default of any window. The command is sent before this returns, so it is counted
   * before a later one.
   */
  report(scripts: RedisScripts, keys?: readonly string[]): Promise<void>
}

function createSharedUses(now: () => number): SharedUses {
  let window = 0
  let uses = new Map<string, Use>()
  /** The keys that have something to report. */
  const due = new Set<string>()
  /** Time by which the server's clock is ahead, whose minutes are the windows. */
  let aheadMs = 0

  function enterWindow(nowMs: number): void {
    const next = windowAt(nowMs + aheadMs)
    if (next === window) return
    window = next
    uses = new Map()
    due.clear()
  }

  function useOf(key: string): Use | undefined {
    const known = uses.get(key)
    if (known !== undefined || uses.size >= MAX_SHARED_KEYS) return known
    const made = { told: 0, unreported: 0 }
    uses.set(key, made)
    return made
  }

  function learn(keys: readonly string[], { serverMs, used }: RedisUse): void {
    aheadMs = serverMs - now()
    if (windowAt(serverMs) !== window) return
    keys.forEach((key, at) => {
      const use = uses.get(key)
      if (use !== undefined) use.told = Math.max(use.told, used[at]!)
    })
  }

  function takeDue(key: string): readonly { readonly key: string; readonly use: Use; readonly weight: number }[] {
    const use = uses.get(key)
    if (!due.delete(key) || use === undefined) return []
    const weight = use.unreported
    use.told += weight
    use.unreported = 0
    return [{ key, use, weight }]
  }

  return {
    serverMs: (nowMs) => nowMs + aheadMs,
    usesOf(keys, nowMs) {
      enterWindow(nowMs)
      const found = keys.map(useOf)
      return found.every((use) => use !== undefined) ? found : undefined
    },
    count(keys, weight) {
      for (const key of keys) {
        uses.get(key)!.unreported += weight
        due.add(key)
      }
    },
    learn,
    async report(scripts, keys = [...due.values().take(MAX_REPORTED)]) {
      const told = keys.flatMap(takeDue)
      if (told.length === 0) return
      const weights = new Map(told.map(({ key, weight }) => [key, weight]))
      try {
        learn([...weights.keys()], await scripts.add(weights))
      } catch (error) {
        if (!(error instanceof RedisUnavailableError)) throw error
        // Told again to a server that comes back. It may have counted them already, which costs the client that much.
        for (const { key, use, weight } of told) {
          use.told -= weight
          use.unreported += weight
          if (uses.get(key) === use) due.add(key)
        }
      }
    },
  }
}

/** Charges this node's part of each limit. */
function takeShare(
  here: InProcessLimits,
  buckets: readonly LimitBucket[],
  nodes: number,
  nowMs: number,
  weight?: number,
): LimitAnswer {
  if (nodes <= 1) return here.take(buckets, nowMs, weight)
  return here.take(
    buckets.map((bucket) => ({ ...bucket, limit: Math.max(1, Math.ceil(bucket.limit / nodes)) })),
    nowMs,
    weight,
  )
}

function windowAt(ms: number): number {
  return Math.floor(ms / LIMIT_WINDOW_MS)
}

function answerOf(buckets: readonly LimitBucket[], { isAllowed, used, serverMs }: RedisAdmitted): LimitAnswer {
  return tightest(buckets, (at) => used[at]!, { isAllowed, serverMs })
}

function tightest(
  buckets: readonly LimitBucket[],
  usedOf: (at: number) => number,
  { isAllowed, serverMs }: { readonly isAllowed: boolean; readonly serverMs: number },
): LimitAnswer {
  const resetSeconds = Math.ceil((LIMIT_WINDOW_MS - (serverMs % LIMIT_WINDOW_MS)) / 1000)
  return buckets
    .map(({ scope, limit }, at) => ({
      isAllowed,
      scope,
      limit,
      remaining: Math.max(0, limit - usedOf(at)),
      resetSeconds,
    }))
    .reduce(tighterAnswer)
}
