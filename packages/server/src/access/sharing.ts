import type { FastifyBaseLogger } from 'fastify'
import { StartupError } from '@bezel/protocol'
import type { ServerConfig } from '../settings/config.ts'
import type { TrustedPlace } from '../settings/dataConnections.ts'
import { readDeployment } from '../store/nonceKeeperStore.ts'
import type { Store } from '../store/sql.ts'
import { admitInProcess, type Admission } from './admission.ts'
import { createInProcessLimits } from './inProcessLimits.ts'
import type { Limits } from './limits.ts'
import { openNonceKeeper, type NonceKeeper } from './nonceKeeper.ts'
import { openNonces, openSharedNonces, type StoredNonces } from './nonces.ts'
import { createRedisLimits, type RedisLimits } from './redisLimits.ts'
import { openRedisLink, type RedisCounts, type RedisLink } from './redisLink.ts'
import { createRedisScripts } from './redisScripts.ts'
import { createSharedAdmission } from './sharedAdmission.ts'
import { NO_WAKEUPS, openWakeups, type Wakeups } from './wakeups.ts'

/** The parts of access that nodes share: all in this process where it is alone with its data. */
export interface Sharing {
  /** The limits of requests. */
  readonly limits: Limits
  /** Creates limits of something else than requests, counted apart under a name. */
  limitsOf(name: string): Limits
  readonly admission: Admission
  readonly nonces: StoredNonces
  readonly wakeups: Wakeups
  /** Returns what is wrong with Redis, as a sentence; `undefined` when it is well or not configured. */
  warning(): string | undefined
  /** The use of Redis, for metrics; `undefined` where it is not configured. */
  readonly redis: RedisState | undefined
}

/** The use of Redis. */
export interface RedisState {
  counts(): RedisCounts
  isUp(): boolean
  /** True while used nonces of reads are claimed in the store. */
  isOnStore(): boolean
}

export interface SharingOptions extends Pick<ServerConfig, 'database' | 'redis'> {
  readonly store: Store
  /** Path of the file of nonces, of a process that is alone with its data. */
  readonly nonceFile: string
  /** Returns the number of nodes that serve now, at least 1. */
  readonly liveNodes: () => number
  readonly now: () => number
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn' | 'error'>
}

/** Throws a `StartupError` when a Redis is named that nobody could share. */
export function refuseLoneRedis({ database, redis }: Pick<ServerConfig, 'database' | 'redis'>): void {
  if (redis === undefined || database !== undefined) return
  throw new StartupError(
    'REDIS_URL is set and DATABASE_URL is not: nodes that share a Redis also share a PostgreSQL. Set DATABASE_URL, or leave out REDIS_URL.',
  )
}

/** Opens the shared parts; `open` closes them. Throws a `StartupError` that says what to correct. */
export function openSharing(options: SharingOptions, open: AsyncDisposableStack): Promise<Sharing> {
  return options.database === undefined ? openAlone(options, open) : openShared(options, open)
}

async function openAlone(
  { store, nonceFile: file, now }: SharingOptions,
  open: AsyncDisposableStack,
): Promise<Sharing> {
  const limits = createInProcessLimits()
  const nonces = await openNonces({ store, file, now })
  open.defer(() => nonces.close())
  return {
    limits,
    limitsOf: () => createInProcessLimits(),
    admission: admitInProcess({ limits, nonces, now }),
    nonces,
    wakeups: NO_WAKEUPS,
    warning: () => undefined,
    redis: undefined,
  }
}

async function openShared(options: SharingOptions, open: AsyncDisposableStack): Promise<Sharing> {
  const { store, redis, nonceFile: file, liveNodes, now, log } = options
  const onError = (error: unknown): void => log.error({ err: error }, 'the place of used nonces could not be kept up')
  const nonces = await openSharedNonces({ store, file, now })
  const link = redis === undefined ? undefined : await openLink(redis, log)
  if (link !== undefined) open.defer(() => link.close())
  const scripts = link && createRedisScripts(link, await readDeployment(store.read))
  const wakeups = redis === undefined || scripts === undefined ? NO_WAKEUPS : openWakeups(redis, scripts)
  open.defer(() => wakeups.close())
  const keeper = await openNonceKeeper({ store, scripts, now, onError })
  open.defer(() => keeper.close())
  const limitsOf = (name: string): RedisLimits => {
    const made = createRedisLimits({ scripts, name, liveNodes, now })
    open.defer(() => made.close())
    return made
  }
  const limits = limitsOf('requests')
  return {
    limits,
    limitsOf,
    admission: createSharedAdmission({ store, scripts, limits, keeper, now, onError }),
    nonces,
    wakeups,
    warning: () => (link?.problem() === undefined ? undefined : warningOf(link, keeper)),
    redis: link && stateOf(link, keeper),
  }
}

function openLink(place: TrustedPlace, log: SharingOptions['log']): Promise<RedisLink> {
  return openRedisLink(place, {
    onDown: (problem) =>
      log.warn({ problem }, 'Redis can not be used: limits are counted here, nonces are in the store'),
    onUp: () => log.info('Redis is used'),
  })
}

function warningOf(link: RedisLink, keeper: NonceKeeper): string {
  const place = keeper.isOnStore() ? ' and used nonces are kept in the database' : ''
  return `Redis can't be used (${link.problem()}): each node counts limits for itself${place}. Nothing is wrong, only slower.`
}

function stateOf(link: RedisLink, keeper: NonceKeeper): RedisState {
  return {
    counts: () => link.counts(),
    isUp: () => link.run() !== undefined,
    isOnStore: () => keeper.isOnStore(),
  }
}
