import { describeSettings } from '@bezel/protocol/program'
import type { OptionTable } from '../arguments/readOptions.ts'
import type { Command } from '../commands/command.ts'
import { CLI_SETTINGS } from '../connection/settings.ts'
import { EXIT_CODES, EXIT_CODE_MEANINGS } from '../errors/cliError.ts'
import { wrapWords } from '../output/text.ts'

/**
 * The options of every command. None of them is a key: all programs on the machine see arguments, and shells keep them.
 */
export const GLOBAL_OPTIONS = {
  url: { type: 'string', value: 'URL', what: 'address of the service (BEZEL_URL)' },
  chain: { type: 'string', value: 'CHAIN', what: 'chain, for instance base (BEZEL_CHAIN)' },
  rpc: { type: 'string', value: 'URL', what: "URL of the chain's node, needed to send (BEZEL_RPC_URL)" },
  diamond: {
    type: 'string',
    value: 'ADDRESS',
    what: 'Diamond to trade on, if not the known one (BEZEL_DIAMOND)',
  },
  keystore: { type: 'string', value: 'FILE', what: "encrypted file of the agent's key (BEZEL_KEYSTORE)" },
  'trader-keystore': {
    type: 'string',
    value: 'FILE',
    what: "encrypted file of the trader's key (BEZEL_TRADER_KEYSTORE)",
  },
  trader: {
    type: 'string',
    value: 'ADDRESS',
    what: 'trader whose account is meant; keys of any other are refused (BEZEL_TRADER)',
  },
  as: { type: 'string', value: 'NAMES', what: 'accounts of the local chain: trader-2, or trader-2/agent-3' },
  json: { type: 'boolean', what: 'print JSON on stdout, everything else on stderr' },
  help: { type: 'boolean', what: 'show this text' },
  version: { type: 'boolean', what: 'show the version' },
} as const satisfies OptionTable

/** Returns the usage line of a command: `Usage: bezel close POSITION [options]`. */
export function usageLine(command: Command): string {
  const operands = command.operands.map(({ name, isOptional, isMany }) => {
    const word = isMany === true ? `${name}...` : name
    return isOptional === true ? `[${word}]` : word
  })
  return `Usage: ${['bezel', command.name, ...operands, '[options]'].join(' ')}`
}

/** Returns the text of `bezel --help`. */
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

/** Returns the text of `bezel agent --help`: the commands that share a first word. */
export function groupHelp(commands: readonly Command[]): string {
  return ['Commands:', commandLines(commands), '', 'bezel COMMAND --help says more about one of them.'].join('\n')
}

/** Returns the text of `bezel close --help`, made from the record of the command. */
export function commandHelp(command: Command): string {
  const { operands, options, examples, aliases = [] } = command
  const width = Math.max(0, ...operands.map(({ name }) => name.length))
  return [
    `bezel ${command.name}: ${command.summary}.`,
    '',
    usageLine(command),
    ...operands.map(({ name, what }) => `  ${name.padEnd(width)}  ${what}`),
    ...(aliases.length === 0 ? [] : ['', `Also: ${aliases.map((alias) => `bezel ${alias}`).join(', ')}`]),
    ...(Object.keys(options).length === 0 ? [] : ['', 'Options:', optionLines(options)]),
    '',
    'Options of every command:',
    optionLines(GLOBAL_OPTIONS),
    '',
    'Examples:',
    ...examples.map((example) => `  bezel ${example}`),
  ].join('\n')
}

/** Columns that the rest of a command is indented by, so that it does not look like a command of its own. */
const CONTINUED = 4

/**
 * Fits a help text into a terminal: a line that is too long goes on below its last column, and one of a single column,
 * such as an example, a little to the right of its beginning.
 */
export function fitHelp(text: string, width = Number.POSITIVE_INFINITY): string[] {
  return text.split('\n').flatMap((line) => {
    const head = /^(?:.*\S)? {2,}(?=\S)/.exec(line)?.[0] ?? ''
    const isOneColumn = head !== '' && head.trim() === ''
    const indent = head.length + (isOneColumn && line.length > width ? CONTINUED : 0)
    const lines = wrapWords(line.slice(head.length), width - indent)
    return lines.map((part, place) => (place === 0 ? head : ' '.repeat(indent)) + part)
  })
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
