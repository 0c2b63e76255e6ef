import type { Command } from '../commands/command.ts'
import { UsageError } from '../errors/usageError.ts'
import { commandHelp, groupHelp, mainHelp, usageLine } from '../output/helpText.ts'
import type { CommandArguments } from './commandArguments.ts'
import { findCommand } from './findCommand.ts'
import { GLOBAL_OPTIONS } from './globalOptions.ts'
import { operandsOf, readOptions, type ReadOptions } from './readOptions.ts'

/** What a command line asks for. */
export type Asked =
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'version' }
  | { readonly kind: 'command'; readonly command: Command; readonly args: CommandArguments }

/** Options may stand before or behind the name of the command. */
export function parseCommandLine(argv: readonly string[], commands: readonly Command[]): Asked {
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

function withoutCommand(argv: readonly string[], commands: readonly Command[], isHelpWord: boolean): Asked {
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
