import { resolve } from 'node:path'
import { TRUST_SETTINGS, type TrustedPlace } from './dataConnections.ts'
import { integerSetting, pathSetting, readSettings, secretSetting, type SettingsOf } from '@bezel/protocol'
import { SECRET_FILE_SETTINGS, withSecretFiles } from './secretFiles.ts'

/** The settings that say where the data is. */
export const PLACE_SETTINGS = {
  BEZEL_DATA: pathSetting({ what: 'data folder', default: 'var' }),
  DATABASE_URL: secretSetting({
    what: 'address of a PostgreSQL database, 15 or newer, that keeps the data instead of SQLite in BEZEL_DATA',
  }),
  ...TRUST_SETTINGS,
  ...SECRET_FILE_SETTINGS,
  BEZEL_DATABASE_CONNECTIONS: integerSetting({
    what: 'connections to PostgreSQL that may be open at a time',
    default: 20,
    min: 2,
    max: 500,
  }),
  BEZEL_DATABASE_STATEMENT_MS: integerSetting({
    what: 'milliseconds after which PostgreSQL ends a statement',
    default: 10_000,
    min: 1_000,
    max: 600_000,
  }),
  BEZEL_DATABASE_IDLE_MS: integerSetting({
    what: 'milliseconds after which PostgreSQL ends a transaction in which nothing happens',
    default: 10_000,
    min: 1_000,
    max: 600_000,
  }),
} as const

/** Place and bounds of a database of PostgreSQL. */
export interface DatabaseSettings extends TrustedPlace {
  readonly connections: number
  /** Time after which the server ends a statement. */
  readonly statementMs: number
  /** Time after which the server ends a transaction in which nothing happens. */
  readonly idleTransactionMs: number
}

/** The folder of the data, and the database that keeps most of it. */
export interface DataPlace {
  /** Absolute path. */
  readonly dataFolder: string
  /** `undefined` for SQLite in the data folder. */
  readonly database: DatabaseSettings | undefined
}

/** Reads the place of the data from the environment. Throws a `StartupError` when a setting is not allowed. */
export function readDataPlace(env: Readonly<Record<string, string | undefined>>): DataPlace {
  return dataPlaceOf(readSettings(PLACE_SETTINGS, withSecretFiles(env)))
}

/** Returns the place of the data. */
export function dataPlaceOf(settings: SettingsOf<typeof PLACE_SETTINGS>): DataPlace {
  const url = settings.DATABASE_URL
  return {
    dataFolder: resolve(settings.BEZEL_DATA),
    database:
      url === undefined
        ? undefined
        : {
            url,
            caFile: settings.BEZEL_DATABASE_CA_FILE,
            isPlainAllowed: settings.BEZEL_PLAIN_CONNECTIONS === 'all',
            connections: settings.BEZEL_DATABASE_CONNECTIONS,
            statementMs: settings.BEZEL_DATABASE_STATEMENT_MS,
            idleTransactionMs: settings.BEZEL_DATABASE_IDLE_MS,
          },
  }
}
