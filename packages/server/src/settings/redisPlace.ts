import { secretSetting, type SettingsOf } from '@bezel/protocol'
import { REDIS_CA_SETTING, type TrustedPlace, type TRUST_SETTINGS } from './dataConnections.ts'

/** The settings of the Redis that nodes share. */
export const REDIS_SETTINGS = {
  REDIS_URL: secretSetting({
    what: 'address of a Redis, 7 or newer, or a Valkey, by which several nodes on one DATABASE_URL share limits, used nonces and wake-ups',
  }),
  BEZEL_REDIS_CA_FILE: REDIS_CA_SETTING,
} as const

/** The Redis of a deployment. */
export interface SharedRedis {
  /** `undefined` for no Redis. */
  readonly redis: TrustedPlace | undefined
}

/** Returns the Redis that the settings name. */
export function sharedRedisOf(
  settings: SettingsOf<typeof REDIS_SETTINGS> & SettingsOf<typeof TRUST_SETTINGS>,
): SharedRedis {
  const { REDIS_URL: url, BEZEL_REDIS_CA_FILE: caFile } = settings
  const isPlainAllowed = settings.BEZEL_PLAIN_CONNECTIONS === 'all'
  return { redis: url === undefined ? undefined : { url, caFile, isPlainAllowed } }
}
