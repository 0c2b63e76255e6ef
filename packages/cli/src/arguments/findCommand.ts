import { nearestName } from '@bezel/protocol'
import type { Command } from '../commands/command.ts'
import { UsageError } from '../errors/usageError.ts'

/** What the words of a command line name: a command, or the first word of several. */
export type Found =
  | { readonly command: Command; readonly words: number }
  | { readonly group: string; readonly commands: readonly Command[] }

/** `words` are the operands of the command line, the command's own name first. */
export function findCommand(words: readonly string[], commands: readonly Command[]): Found {
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
  // The first word of a pair alone is a name too: `bezel agnet`.
  const names = [...new Set(pool.flatMap(({ name }) => (group.length > 0 ? [name] : [name, name.split(' ')[0]!])))]
  const nearest = nearestName(given, names)
  const hint = nearest === undefined ? 'The commands are:' : `Did you mean bezel ${nearest}?`
  const list = pool.map(({ name }) => `  bezel ${name}`).join('\n')
  return new UsageError(`There is no command ${quote(given)}. ${hint}`, nearest === undefined ? list : undefined)
}

function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}...` : text)
}
