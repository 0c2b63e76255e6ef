import { randomBytes } from 'node:crypto'
import { every } from '../ground/every.ts'
import {
  adoptRedis,
  claimNonce,
  doubtRedis,
  finishAdopting,
  finishLeaving,
  leaveRedis,
  NEVER_MS,
  readKeeper,
  type KeeperRow,
} from '../store/nonceKeeperStore.ts'
import type { Store } from '../store/sql.ts'
import type { SignedNonce } from './admission.ts'
import { NONCE_KEPT_MS, REPLAY_WINDOW_MS } from './nonceMemory.ts'
import { RedisUnavailableError } from './redisLink.ts'
import type { RedisScripts } from './redisScripts.ts'

/** The times by which nodes agree on the place of nonces. Tests shorten them. */
export interface KeeperTimes {
  /** Pause between two looks at the row. */
  readonly lookMs: number
  /** Time for which a look may be acted on. */
  readonly validMs: number
  /** Time by which a claim in Redis alone may be dated ahead of the database. */
  readonly aheadMs: number
  /** Slack for clocks of databases that follow each other. */
  readonly marginMs: number
  /** Time for which Redis may be away before the store is made the keeper. */
  readonly graceMs: number
  /** Time without any node's doubt before Redis is made the keeper. */
  readonly quietMs: number
  /** Time for which a node that can't use Redis goes on saying so after it last saw another one use it. */
  readonly doubtMs: number
  /** Half of the replay window, and the time by which a node's clock may be ahead of the database. */
  readonly windowMs: number
}

const KEEPER_TIMES: KeeperTimes = {
  lookMs: 500,
  validMs: 2_000,
  aheadMs: 1_000,
  marginMs: 500,
  graceMs: 500,
  quietMs: 10_000,
  doubtMs: 600_000,
  windowMs: REPLAY_WINDOW_MS + 5_000,
}

/** A look at the row, and the time of this process before it was asked for. */
export interface KeeperLook extends KeeperRow {
  readonly askedAtMs: number
}

/** The outcome of a claim: accepted, used before, or not to be told now. */
export type Verdict = 'free' | 'used' | 'unknown'

/**
 * Knows where the nodes of a deployment keep the used nonces of reads: in Redis, or in the store.
 *
 * No nonce may be accepted twice by any two nodes, however Redis is flushed, restarted or unreachable for some of them,
 * and whichever of them has not heard of it yet. The store is the only thing that all of them trust; a row of it names
 * the keeper. Every claim is dated by its client, and these rules divide the dates:
 *
 * - In Redis alone a claim is accepted only within `validMs` of a look that found this epoch, only when it is dated
 *   after `redisAfter` and no more than `aheadMs` ahead of the database. Any other claim of that time is made in Redis
 *   and in the store, and accepted when it was free in both.
 * - In the store alone a claim is accepted only while the row, read by the same statement, names no epoch, and only
 *   when it is dated after `storeAfter`.
 * - Whoever finds Redis away, or without the epoch, takes the epoch out of the row, and after that is committed sets
 *   `storeAfter` to the time of the database and `validMs + aheadMs` and a margin. A look that found the epoch was
 *   asked for before, so whatever Redis accepted alone is dated up to `storeAfter`, and the store accepts none of it.
 * - Whoever puts an epoch into the row sets `redisAfter`, after that is committed, to the time of the database and
 *   `windowMs`. Statements that found no epoch arrived before, and accepted nothing that is dated later.
 * - Neither accepts what is dated longer ago than Redis remembers.
 * - An epoch is a key in Redis and names the run of the server. A flush takes it away with the nonces; a restart is
 *   another run; a claim is made by one script that finds the epoch or refuses. Connections do not outlive a run. The
 *   epoch ends before the nonces do, so that a jump of the server's clock which ends them ends it, too.
 *
 * Clocks of nodes and of Redis do not matter. The price: after a switch to the store, reads that are dated before
 * `storeAfter` are refused, to be signed anew. That is 3.5 s for clients whose clocks are right. A switch to Redis
 * refuses nothing. Writes have their nonce in the transaction of the store and go on.
 */
export interface NonceKeeper {
  /** Returns the newest look that may still be acted on. */
  look(): KeeperLook | undefined
  /** Looks now. Throws a `StoreUnavailableError`. */
  refresh(): Promise<void>
  /** Returns true while claims may be asked of this server's run at all. */
  isKeptByRedis(look: KeeperLook): boolean
  /** True when a claim that was free in Redis needs no other proof. Ask it after Redis has answered. */
  isEnough(look: KeeperLook, timestampMs: number): boolean
  /** Claims in the store. With an epoch, beside Redis. */
  claim(nonce: SignedNonce, epoch: string): Promise<Verdict>
  /** Makes the store the keeper, because Redis has lost this epoch or is away. */
  giveUp(epoch: string): Promise<void>
  /** True while nonces of reads are claimed in the store alone. */
  isOnStore(): boolean
  /** Calls of `claim` so far. */
  claims(): number
  close(): Promise<void>
}

export interface NonceKeeperOptions {
  readonly store: Store
  /** `undefined` where no Redis is configured: the store is kept the keeper. */
  readonly scripts: RedisScripts | undefined
  readonly now: () => number
  readonly onError: (error: unknown) => void
  readonly times?: KeeperTimes
}

/** Opens the keeper with a first look. Throws a `StoreUnavailableError`. */
export async function openNonceKeeper(options: NonceKeeperOptions): Promise<NonceKeeper> {
  const { store, scripts, now, onError, times = KEEPER_TIMES } = options
  const looks = await openLooks(store)
  const { bringOn, giveUp } = createSwitches({ ...options, looks, times })
  const isValid = (look: KeeperLook): boolean => performance.now() - look.askedAtMs <= times.validMs
  let claims = 0
  const rounds = every(times.lookMs, bringOn, {
    isAtOnce: true,
    onError: (error) => error instanceof RedisUnavailableError || onError(error),
  })
  return {
    look: () => (isValid(looks.last()) ? looks.last() : undefined),
    async refresh() {
      await looks.refresh()
    },
    isKeptByRedis: (look) => isEpochOf(scripts?.link.run(), look.epoch),
    isEnough(look, timestampMs) {
      if (!isValid(look) || timestampMs <= look.redisAfterMs) return false
      const databaseMs = look.databaseMs + performance.now() - look.askedAtMs
      return timestampMs <= databaseMs + times.aheadMs && timestampMs >= databaseMs - NONCE_KEPT_MS
    },
    async claim(nonce, epoch) {
      claims += 1
      const askedAtMs = performance.now()
      const { isClaimed, keeper } = await claimNonce(store.read, nonce, {
        epoch,
        aheadMs: times.windowMs,
        behindMs: NONCE_KEPT_MS,
        reusableBeforeMs: now() - REPLAY_WINDOW_MS,
      })
      looks.note(keeper, askedAtMs)
      if (isClaimed) return 'free'
      const { timestampMs } = nonce
      const isOther = keeper.epoch !== epoch || timestampMs <= keeper.storeAfterMs
      return isOther || timestampMs > keeper.databaseMs + times.windowMs ? 'unknown' : 'used'
    },
    giveUp,
    isOnStore: () => looks.last().epoch === '',
    claims: () => claims,
    async close() {
      await rounds.close()
    },
  }
}

/** True when an epoch was made in this run of a server. */
function isEpochOf(run: string | undefined, epoch: string): boolean {
  return run !== undefined && epoch.startsWith(`${run}.`)
}

/** The newest look at the row. */
interface Looks {
  last(): KeeperLook
  /** Time of this process at which a look last found Redis to be the keeper. */
  redisSeenAtMs(): number
  note(row: KeeperRow, askedAtMs: number): KeeperLook
  refresh(): Promise<KeeperLook>
}

async function openLooks({ read }: Pick<Store, 'read'>): Promise<Looks> {
  let redisSeenAtMs = -Infinity
  let last: KeeperLook | undefined

  function note(row: KeeperRow, askedAtMs: number): KeeperLook {
    const look = { ...row, askedAtMs }
    if (last === undefined || askedAtMs >= last.askedAtMs) last = look
    if (row.epoch !== '') redisSeenAtMs = askedAtMs
    return look
  }

  async function refresh(): Promise<KeeperLook> {
    const askedAtMs = performance.now()
    return note(await readKeeper(read), askedAtMs)
  }

  const first = await refresh()
  return { last: () => last ?? first, redisSeenAtMs: () => redisSeenAtMs, note, refresh }
}

/** Changes the row: to the store when Redis is lost, and back when all is well. */
interface Switches {
  bringOn(): Promise<void>
  giveUp(epoch: string): Promise<void>
}

function createSwitches(
  of: Pick<NonceKeeperOptions, 'store' | 'scripts'> & { readonly looks: Looks; readonly times: KeeperTimes },
): Switches {
  const { store, scripts, looks, times } = of
  const floorMs = times.validMs + times.aheadMs + times.marginMs
  let doubtedAtMs = -Infinity
  let leaving: Promise<void> | undefined

  async function leave(epoch: string): Promise<void> {
    await leaveRedis(store.read, epoch, floorMs)
    await looks.refresh()
  }

  function giveUp(epoch: string): Promise<void> {
    leaving ??= leave(epoch).finally(() => (leaving = undefined))
    return leaving
  }

  /** Tells the other nodes to stay with the store while this one can't use Redis. */
  async function doubt(look: KeeperLook): Promise<void> {
    const downMs = scripts === undefined ? Infinity : scripts.link.downMs()
    if (look.epoch !== '' && downMs >= times.graceMs) await giveUp(look.epoch)
    const nowMs = performance.now()
    if (nowMs - doubtedAtMs < times.quietMs / 4 || nowMs - looks.redisSeenAtMs() > times.doubtMs) return
    doubtedAtMs = nowMs
    await doubtRedis(store.read)
  }

  async function adopt(look: KeeperLook, { adopt: adoptEpoch }: RedisScripts, run: string): Promise<void> {
    const { quietMs, windowMs: besideMs } = times
    if (look.databaseMs <= Math.max(look.storeAfterMs, look.doubtedAtMs + quietMs)) return
    const epoch = await adoptEpoch(run, `${run}.${randomBytes(6).toString('base64url')}`)
    await adoptRedis(store.read, epoch, { quietMs, besideMs })
    await looks.refresh()
  }

  /** Looks at the row. While the store does not answer, however long, the epoch lives on. */
  async function lookAgain(): Promise<KeeperLook> {
    try {
      return await looks.refresh()
    } catch (error) {
      if (scripts?.link.run() !== undefined) await scripts.renew()
      throw error
    }
  }

  return {
    giveUp,
    /** Finishes what a node began that died, gives up a lost epoch, and returns to Redis. */
    async bringOn() {
      const found = await lookAgain()
      if (found.storeAfterMs === NEVER_MS) await finishLeaving(store.read, floorMs)
      const run = scripts?.link.run()
      if (scripts === undefined || run === undefined) return doubt(found)
      if (found.epoch === '') return adopt(found, scripts, run)
      if (!isEpochOf(run, found.epoch) || !(await scripts.renew())) return giveUp(found.epoch)
      if (found.redisAfterMs === NEVER_MS) await finishAdopting(store.read, found.epoch, times.windowMs)
    },
  }
}
