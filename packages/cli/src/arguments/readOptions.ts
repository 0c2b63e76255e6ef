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

/** Matches more hexadecimal digits than any address or number has, so that a key which lost a digit is found too. */
const LONG_HEX = /[0-9a-fA-F]{56,}/

/** Matches 12 or more words in one argument: a recovery phrase. */
const PHRASE = /^\s*(?:[a-z]+\s+){11,}[a-z]+\s*$/

const KEY_OPTION = /^--?(?:private-?key|secret|mnemonic|seed|password|passphrase|agent-key|trader-key|api-key)(?:=|$)/i

/** Refuses arguments that look like a secret, before anything else looks at them or repeats them. */
export function refuseSecrets(argv: readonly string[]): void {
  if (argv.some((argument) => LONG_HEX.test(argument) || PHRASE.test(argument))) {
    throw new UsageError(
      'An argument looks like a private key. Keys are never taken from arguments, because every program on this machine can read those and shells keep them: use a keystore (bezel agent new, --keystore) or the environment (BEZEL_AGENT_KEY, BEZEL_TRADER_KEY). If it was a real key, take it as known to others.',
    )
  }
  const option = argv.find((argument) => KEY_OPTION.test(argument))
  if (option === undefined) return
  throw new UsageError(
    `There is no ${option.split('=')[0]}: secrets are never taken from arguments. Use a keystore (--keystore) or the environment (BEZEL_AGENT_KEY, BEZEL_TRADER_KEY, BEZEL_API_KEY, BEZEL_KEYSTORE_PASSWORD_FILE).`,
  )
}

/** Reads the options of a command line. `usage` is appended to every complaint. */
export function readOptions(argv: readonly string[], table: OptionTable, usage: string): ReadOptions {
  const values = new Map<string, string | true>()
  for (const token of tokensOf(argv, table)) {
    if (token.kind !== 'option') continue
    refuseNegative(argv[token.index]!, usage)
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
 * Returns the options of these names as they can be typed again, each with its value, in the order in which they were
 * typed. Understands a wrong command line too.
 */
export function typedOptions(argv: readonly string[], table: OptionTable, names: readonly string[]): string[] {
  return tokensOf(argv, table).flatMap((token) => {
    if (token.kind !== 'option' || token.value === undefined || !names.includes(token.name)) return []
    return [`--${token.name} ${shellWord(token.value)}`]
  })
}

/** Returns a word as a shell takes it for one, whatever characters it has. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** Throws when a word is a number below 0, which node takes for options of one letter. */
function refuseNegative(word: string, usage: string): void {
  if (!/^-\.?\d/.test(word)) return
  throw new UsageError(`${word.slice(0, 40)} is below 0, and every number here must be above 0.`, usage)
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
  // A number below 0 is no option: the command says what it must be.
  const isAnotherOption = inlineValue !== true && /^-(?!\.?\d)/.test(value ?? '')
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
