import { parseArgs } from 'node:util'
import { nearestName } from '@bezel/protocol/program'
import { UsageError } from '../errors/cliError.ts'

/** An option of the command line. */
interface OptionSpec {
  readonly type: 'string' | 'boolean'
  /** Placeholder of its value in `--help`, for instance `URL`. */
  readonly value?: string
  readonly what: string
}

export type OptionTable = Readonly<Record<string, OptionSpec>>

/** The arguments of one command: complete, and none that the command does not know. */
export interface CommandArguments {
  readonly operands: readonly string[]
  /** Returns the value of an option, `undefined` when it was not given. */
  text(name: string): string | undefined
  flag(name: string): boolean
}

/**
 * The options and operands of a command line. Every option is known, given once, and has a value where it needs one.
 */
export interface ReadOptions {
  readonly operands: readonly string[]
  readonly values: ReadonlyMap<string, string | true>
}

type Token = NonNullable<ReturnType<typeof tokensOf>>[number]

type OptionToken = Extract<Token, { kind: 'option' }>

/** Reads the options of a command line. `usage` is appended to every complaint. */
export function readOptions(argv: readonly string[], table: OptionTable, usage: string): ReadOptions {
  const values = new Map<string, string | true>()
  for (const token of tokensOf(argv, table)) {
    if (token.kind !== 'option') continue
    const value = readOption(token, table, usage)
    if (values.has(token.name)) throw new UsageError(`--${token.name} is there twice. Give it once.`, usage)
    values.set(token.name, value)
  }
  return { operands: operandsOf(argv, table), values }
}

/** Returns the words that are neither an option nor the value of a known option, in order. */
export function operandsOf(argv: readonly string[], table: OptionTable): string[] {
  return tokensOf(argv, table).flatMap((token) => (token.kind === 'positional' ? [token.value] : []))
}

/**
 * Splits the command line without node's strict mode, so that complaints can use our own words and suggest the nearest
 * name.
 */
function tokensOf(argv: readonly string[], table: OptionTable) {
  const options = Object.fromEntries(
    Object.entries(table).map(([name, { type }]) => [name, name === 'help' ? { type, short: 'h' } : { type }]),
  )
  return parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true }).tokens
}

function readOption(
  { name, rawName, value, inlineValue }: OptionToken,
  table: OptionTable,
  usage: string,
): string | true {
  const spec = Object.hasOwn(table, name) ? table[name] : undefined
  if (spec === undefined) throw unknownOption(rawName, name, table, usage)
  if (spec.type === 'boolean') {
    if (value !== undefined) throw new UsageError(`--${name} takes no value.`, usage)
    return true
  }
  const isAnotherOption = inlineValue !== true && value?.startsWith('-') === true
  if (value === undefined || value === '' || isAnotherOption) {
    throw new UsageError(`--${name} needs a value: --${name} ${spec.value ?? 'VALUE'}.`, usage)
  }
  return value
}

function unknownOption(rawName: string, name: string, table: OptionTable, usage: string): UsageError {
  const nearest = nearestName(name, Object.keys(table))
  const hint = nearest === undefined ? '' : ` Did you mean --${nearest}?`
  return new UsageError(`There is no option ${rawName.slice(0, 40)} here.${hint}`, usage)
}
