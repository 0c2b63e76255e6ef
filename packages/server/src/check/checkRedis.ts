import { inspectRedis } from '../access/redisLink.ts'
import { refuseLoneRedis } from '../access/sharing.ts'
import type { ServerConfig } from '../settings/config.ts'
import { readDatabaseTime } from '../store/openConfiguredStore.ts'
import { lengthOf, ok, warning, type Finding } from './finding.ts'

/** Difference of the clocks of Redis and database that is worth a warning: limits of a minute then begin apart. */
const CLOCK_WARNING_MS = 2_000

/** Checks the Redis that nodes share. Throws the `StartupError` of a start, and one when it can't be reached. */
export async function checkRedis({
  database,
  redis,
}: Pick<ServerConfig, 'database' | 'redis'>): Promise<readonly Finding[]> {
  refuseLoneRedis({ database, redis })
  if (redis === undefined || database === undefined) return []
  const { version, timeMs } = await inspectRedis(redis)
  const reached = ok('redis', `Redis ${version} can be used.`)
  // A database that can't be used is a finding of its own.
  const databaseMs = await readDatabaseTime(database).catch(() => undefined)
  return [reached, ...(databaseMs === undefined ? [] : judgeRedisClock(timeMs - databaseMs))]
}

/** Judges the time by which the clock of Redis is ahead of that of the database. */
export function judgeRedisClock(aheadMs: number): readonly Finding[] {
  if (Math.abs(aheadMs) <= CLOCK_WARNING_MS) return []
  const off = `${lengthOf(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'}`
  return [warning('redis clock', `The clock of Redis is ${off} that of PostgreSQL: set it, for instance by NTP.`)]
}
