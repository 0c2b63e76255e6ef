import type { Command } from '../commands/command.ts'
import { UsageError } from '../errors/cliError.ts'
import { commandHelp, groupHelp, mainHelp, usageLine, GLOBAL_OPTIONS } from './helpText.ts'
import { type CommandArguments, operandsOf, readOptions, type ReadOptions } from '../arguments/readOptions.ts'
import { nearestName } from '@bezel/protocol/program'

/** The result of parsing a command line: a request for help, for the version, or a command with its arguments. */
export type Invocation =
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'version' }
  | { readonly kind: 'command'; readonly command: Command; readonly args: CommandArguments }

/** Parses a command line. Options may stand before or after the name of the command. */
export function parseCommandLine(argv: readonly string[], commands: readonly Command[]): Invocation {
  const words = operandsOf(argv, GLOBAL_OPTIONS)
  const isHelpWord = words[0] === 'help'
  const named = isHelpWord ? words.slice(1) : words
  if (named.length === 0) return withoutCommand(argv, commands, isHelpWord)
  const found = findCommand(named, commands)
  const wantsHelp = isHelpWord || argv.includes('--help') || argv.includes('-h')
  if ('group' in found) {
    const text = groupHelp(found.commands)
    if (wantsHelp) return { kind: 'help', text }
    throw new UsageError(`bezel ${found.group} needs one more word.`, text)
  }
  const { command } = found
  if (wantsHelp) return { kind: 'help', text: commandHelp(command) }
  const usage = usageLine(command)
  const read = readOptions(argv, { ...GLOBAL_OPTIONS, ...command.options }, usage)
  if (read.values.has('version')) return { kind: 'version' }
  return { kind: 'command', command, args: argumentsOf(read, command, found.words) }
}

function withoutCommand(argv: readonly string[], commands: readonly Command[], isHelpWord: boolean): Invocation {
  const { values } = readOptions(argv, GLOBAL_OPTIONS, 'bezel --help lists the commands and options.')
  if (values.has('version')) return { kind: 'version' }
  const isHelp = isHelpWord || values.has('help') || argv.length === 0
  if (isHelp) return { kind: 'help', text: mainHelp(commands) }
  throw new UsageError('Which command? bezel --help lists them.')
}

function argumentsOf({ operands: all, values }: ReadOptions, command: Command, words: number): CommandArguments {
  const operands = all.slice(words)
  const { operands: specs } = command
  const missing = specs.find((spec, place) => spec.isOptional !== true && operands[place] === undefined)
  if (missing !== undefined) {
    throw new UsageError(`bezel ${command.name} needs ${missing.name}: ${missing.what}.`, usageLine(command))
  }
  const mayBeMore = specs.at(-1)?.isMany === true
  const extra = mayBeMore ? undefined : operands[specs.length]
  if (extra !== undefined) {
    throw new UsageError(`${JSON.stringify(extra.slice(0, 40))} is one word too many.`, usageLine(command))
  }
  return {
    operands,
    text(name) {
      const value = values.get(name)
      return value === true ? undefined : value
    },
    flag: (name) => values.has(name),
  }
}

/** The result of a search for a command: one command, or several that share the first word. */
type Found =
  | { readonly command: Command; readonly words: number }
  | { readonly group: string; readonly commands: readonly Command[] }

/** Finds the command that the operands name; `words` begins with the command's own name. */
function findCommand(words: readonly string[], commands: readonly Command[]): Found {
  const [first = '', second] = words
  const two = commands.find((command) => namesOf(command).includes(`${first} ${second}`))
  if (two !== undefined) return { command: two, words: 2 }
  const one = commands.find((command) => namesOf(command).includes(first))
  if (one !== undefined) return { command: one, words: 1 }
  const group = commands.filter(({ name }) => name.startsWith(`${first} `))
  if (group.length > 0 && second === undefined) return { group: first, commands: group }
  throw unknownCommand(words, commands, group)
}

function namesOf({ name, aliases = [] }: Command): readonly string[] {
  return [name, ...aliases]
}

function unknownCommand(words: readonly string[], commands: readonly Command[], group: readonly Command[]): UsageError {
  const given = group.length > 0 ? words.slice(0, 2).join(' ') : words[0]!
  const pool = group.length > 0 ? group : commands
  // The first word of a two-word command can be mistyped too: `bezel agnet`.
  const names = [...new Set(pool.flatMap(({ name }) => (group.length > 0 ? [name] : [name, name.split(' ')[0]!])))]
  const nearest = nearestName(given, names)
  const hint = nearest === undefined ? 'The commands are:' : `Did you mean bezel ${nearest}?`
  const list = pool.map(({ name }) => `  bezel ${name}`).join('\n')
  return new UsageError(`There is no command ${quote(given)}. ${hint}`, nearest === undefined ? list : undefined)
}

function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}...` : text)
}
