import { describeSettings } from '@bezel/protocol'
import { GLOBAL_OPTIONS } from '../arguments/globalOptions.ts'
import type { OptionTable } from '../arguments/optionSpec.ts'
import type { Command } from '../commands/command.ts'
import { CLI_SETTINGS } from '../connection/settings.ts'
import { EXIT_CODES, EXIT_CODE_MEANINGS } from '../errors/exitCodes.ts'

/** `Usage: bezel close POSITION [options]`. */
export function usageLine(command: Command): string {
  const operands = command.operands.map(({ name, isOptional, isMany }) => {
    const word = isMany === true ? `${name}...` : name
    return isOptional === true ? `[${word}]` : word
  })
  return `Usage: ${['bezel', command.name, ...operands, '[options]'].join(' ')}`
}

/** `bezel --help`. */
export function mainHelp(commands: readonly Command[]): string {
  return [
    'bezel: trade through a Bezel service from the command line.',
    '',
    'Usage: bezel COMMAND [options]',
    '',
    'Commands:',
    commandLines(commands),
    '',
    'Options of every command:',
    optionLines(GLOBAL_OPTIONS),
    '',
    'Settings, from the environment:',
    describeSettings(CLI_SETTINGS),
    '',
    'Beside a local chain (npm start) nothing has to be named: the address, the chain, trader-1 and agent-1 are found in var/devnet.json.',
    'Keys come from a keystore file or from the environment, never from arguments.',
    '',
    'Exit codes:',
    exitCodeLines(),
    '',
    'bezel COMMAND --help says more about one of them.',
  ].join('\n')
}

/** `bezel agent --help`. */
export function groupHelp(commands: readonly Command[]): string {
  return ['Commands:', commandLines(commands), '', 'bezel COMMAND --help says more about one of them.'].join('\n')
}

/** `bezel close --help`. */
export function commandHelp(command: Command): string {
  const { operands, options, examples } = command
  const width = Math.max(0, ...operands.map(({ name }) => name.length))
  return [
    `bezel ${command.name}: ${command.summary}.`,
    '',
    usageLine(command),
    ...operands.map(({ name, what }) => `  ${name.padEnd(width)}  ${what}`),
    ...(Object.keys(options).length === 0 ? [] : ['', 'Options:', optionLines(options)]),
    '',
    'Options of every command:',
    optionLines(GLOBAL_OPTIONS),
    '',
    'Examples:',
    ...examples.map((example) => `  bezel ${example}`),
  ].join('\n')
}

function commandLines(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  return commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`).join('\n')
}

function optionLines(options: OptionTable): string {
  const heads = Object.entries(options).map(([name, { value }]) => `--${name}${value === undefined ? '' : ` ${value}`}`)
  const width = Math.max(...heads.map((head) => head.length))
  return Object.values(options)
    .map(({ what }, place) => `  ${heads[place]!.padEnd(width)}  ${what}`)
    .join('\n')
}

function exitCodeLines(): string {
  return Object.entries(EXIT_CODES)
    .map(([name, code]) => `  ${String(code).padEnd(3)}  ${EXIT_CODE_MEANINGS[name as keyof typeof EXIT_CODES]}`)
    .join('\n')
}
