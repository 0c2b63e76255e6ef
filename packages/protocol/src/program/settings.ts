import { nearestName } from './nearestName.ts'
import { StartupError } from './runProgram.ts'

/** A setting: its purpose with its unit, and how its text becomes a value. */
export interface Setting<Value> {
  readonly what: string
  /** The default as a user would write it; `undefined` when the program works out its own. */
  readonly defaultText: string | undefined
  readonly defaultValue: Value
  /** End of the sentence "it must be ...". */
  readonly allowed: string
  /** Parses the text; `undefined` when it is not allowed. */
  readonly parse: (text: string) => Value | undefined
}

type SettingsTable = Readonly<Record<string, Setting<unknown>>>

/** The values of a table, by name. */
export type SettingsOf<Table extends SettingsTable> = {
  readonly [Name in keyof Table]: Table[Name] extends Setting<infer Value> ? Value : never
}

/** Prefixes of our own names. An unknown name that starts with one is a typing error, not somebody else's variable. */
const RESERVED_PREFIXES = ['BEZEL_', 'DEVNET_']

/**
 * Every setting with a reserved prefix, of all programs of Bezel. They share one environment (`npm start` passes it to
 * each), so each must know the others' names to tell them from typing errors. A test compares this list with the tables
 * of the programs.
 */
export const PREFIXED_SETTING_NAMES: readonly string[] = [
  'BEZEL_ACCOUNT_REFRESH_MS',
  'BEZEL_AGENT_KEY',
  'BEZEL_AGENT_LIMIT',
  'BEZEL_AGENT_WRITE_LIMIT',
  'BEZEL_API_KEY',
  'BEZEL_AUDIT_IP_DAYS',
  'BEZEL_CHAIN',
  'BEZEL_CHAINS_FILE',
  'BEZEL_CONNECTIONS',
  'BEZEL_CONNECTIONS_PER_IP',
  'BEZEL_CONSOLE',
  'BEZEL_DATA',
  'BEZEL_DATABASE_CA_FILE',
  'BEZEL_DATABASE_CONNECTIONS',
  'BEZEL_DATABASE_IDLE_MS',
  'BEZEL_DATABASE_STATEMENT_MS',
  'BEZEL_DIAMOND',
  'BEZEL_DOMAIN_NAME',
  'BEZEL_EVENTS_KEEP_DAYS',
  'BEZEL_FACADE_FILL_WAIT_MS',
  'BEZEL_FACADE_SOURCES',
  'BEZEL_FEED_URL',
  'BEZEL_HEADER_PREFIX',
  'BEZEL_HEAD_POLL_MS',
  'BEZEL_IP_LIMIT',
  'BEZEL_KEYSTORE',
  'BEZEL_KEYSTORE_PASSWORD',
  'BEZEL_KEYSTORE_PASSWORD_FILE',
  'BEZEL_MARKETS_REFRESH_MS',
  'BEZEL_MARKET_STATUS_MS',
  'BEZEL_MAX_CLAIMS',
  'BEZEL_MAX_PREPARED_ORDERS',
  'BEZEL_METRICS',
  'BEZEL_OVERLOAD_PERCENT',
  'BEZEL_OVERLOAD_WAIT_MS',
  'BEZEL_PLAIN_CONNECTIONS',
  'BEZEL_PREPARED_MARKET_MS',
  'BEZEL_PREPARED_RESTING_MS',
  'BEZEL_PUBLIC_URL',
  'BEZEL_QUIET_PRICE_MS',
  'BEZEL_REDIS_CA_FILE',
  'BEZEL_REGISTRATION_LIMIT',
  'BEZEL_RELAYER_KEY',
  'BEZEL_RELAYER_KEY_FILE',
  'BEZEL_REPAIR_PAUSE_MS',
  'BEZEL_ROLES',
  'BEZEL_RPC_URL',
  'BEZEL_SECURITY_CONTACT',
  'BEZEL_STOP_NOTICE_MS',
  'BEZEL_STOP_SPREAD_MS',
  'BEZEL_STREAM_CONNECTIONS',
  'BEZEL_STREAM_CONNECTIONS_PER_IP',
  'BEZEL_TRADER',
  'BEZEL_TRADER_KEY',
  'BEZEL_TRADER_KEYSTORE',
  'BEZEL_TRUSTED_PROXIES',
  'BEZEL_UNANSWERED_MS',
  'BEZEL_UNKNOWN_HASH_MS',
  'BEZEL_UNSENT_KEEP_DAYS',
  'BEZEL_URL',
  'DEVNET_BLOCK_MS',
  'DEVNET_CHAINS',
  'DEVNET_LISTING',
  'DEVNET_ORACLE_DELAY_MS',
  'DEVNET_PORT',
  'DEVNET_PUBLIC',
  'DEVNET_SEED',
]

/**
 * Reads the values of `table` from the environment. An empty variable counts as not set. Throws a `SettingsError` at
 * the first fault.
 */
export function readSettings<Table extends SettingsTable>(
  table: Table,
  env: Readonly<Record<string, string | undefined>>,
): SettingsOf<Table> {
  refuseUnknownNames(env)
  const values = Object.entries(table).map(([name, setting]) => [name, readSetting(name, setting, env[name])])
  return Object.fromEntries(values) as SettingsOf<Table>
}

/** Returns one line per setting, for `--help`. */
export function describeSettings(table: SettingsTable): string {
  const width = Math.max(...Object.keys(table).map((name) => name.length))
  return Object.entries(table)
    .map(([name, { what, defaultText }]) => `  ${name.padEnd(width)}  ${what} (default: ${defaultText ?? 'none'})`)
    .join('\n')
}

function readSetting<Value>(name: string, setting: Setting<Value>, text: string | undefined): Value {
  if (text === undefined || text === '') return setting.defaultValue
  const value = setting.parse(text)
  if (value === undefined) throw new SettingsError(`${name} is ${quote(text)}, but it must be ${setting.allowed}.`)
  return value
}

function refuseUnknownNames(env: Readonly<Record<string, string | undefined>>): void {
  const isUnknown = (name: string): boolean =>
    RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix)) && !PREFIXED_SETTING_NAMES.includes(name)
  const unknown = Object.keys(env).find(isUnknown)
  if (unknown === undefined) return
  const nearest = nearestName(unknown, PREFIXED_SETTING_NAMES)
  const hint =
    nearest === undefined ? `the settings are ${PREFIXED_SETTING_NAMES.join(', ')}` : `did you mean ${nearest}?`
  throw new SettingsError(`${quote(unknown)} is not a setting of Bezel: ${hint}`)
}

/** Returns the text quoted on one line and shortened, to stand in a sentence. */
function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text)
}

/** The error for an unknown setting, or for a value that is not allowed. */
export class SettingsError extends StartupError {
  override readonly name = 'SettingsError'
}
