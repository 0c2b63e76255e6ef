import { nearestName } from './nearestName.ts'
import { PREFIXED_SETTING_NAMES } from './settingNames.ts'
import { StartupError } from './startupError.ts'

/** One setting: what it is for, with its unit, and how its text becomes a value. */
export interface Setting<Value> {
  readonly what: string
  /** As a user would write it; `undefined` when the program works out its own. */
  readonly defaultText: string | undefined
  readonly defaultValue: Value
  /** Ends the sentence "it must be ...". */
  readonly allowed: string
  /** `undefined` when the text is not allowed. */
  readonly parse: (text: string) => Value | undefined
}

type SettingsTable = Readonly<Record<string, Setting<unknown>>>

/** The values of a table, by name. */
export type SettingsOf<Table extends SettingsTable> = {
  readonly [Name in keyof Table]: Table[Name] extends Setting<infer Value> ? Value : never
}

/** Names that start with these are ours, so one that no program knows is a typing error and not somebody else's variable. */
const RESERVED_PREFIXES = ['BEZEL_', 'DEVNET_']

/** Values of `table` from the environment. An empty variable counts as not set. Throws a `SettingsError` at the first fault. */
export function readSettings<Table extends SettingsTable>(
  table: Table,
  env: Readonly<Record<string, string | undefined>>,
): SettingsOf<Table> {
  refuseUnknownNames(env)
  const values = Object.entries(table).map(([name, setting]) => [name, readSetting(name, setting, env[name])])
  return Object.fromEntries(values) as SettingsOf<Table>
}

/** One line a setting, for `--help`. */
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

/** Quoted on one line and cut, because it goes into a sentence. */
function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text)
}

/** A setting that is unknown or has a value that is not allowed. */
export class SettingsError extends StartupError {
  override readonly name = 'SettingsError'
}
