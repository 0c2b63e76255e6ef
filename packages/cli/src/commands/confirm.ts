import type { CommandArguments, OptionTable } from '../arguments/readOptions.ts'
import { readWhole } from '../arguments/readers.ts'
import { CliError, EXIT_CODES, UsageError } from '../errors/cliError.ts'
import { promptLine } from '../keys/readPassword.ts'
import { plainText } from '../output/text.ts'
import type { CommandContext } from './command.ts'

/** The option of commands that send. */
export const YES_OPTION = {
  yes: { type: 'boolean', what: 'send without asking; beside a local chain nothing is asked anyway' },
} as const satisfies OptionTable

/** Options of commands that send and wait for the chain. */
export const WAIT_OPTIONS = {
  ...YES_OPTION,
  'no-wait': { type: 'boolean', what: 'end as soon as the transaction is sent and reported' },
  timeout: { type: 'string', value: 'SECONDS', what: 'how long to wait (default: 90)' },
} as const satisfies OptionTable

const DEFAULT_SECONDS = 90

const MAX_SECONDS = 86_400

/** Returns `--timeout` in milliseconds. Default 90 s. */
export function timeoutMsOf(args: CommandArguments): number {
  const text = args.text('timeout')
  return 1_000 * (text === undefined ? DEFAULT_SECONDS : readWhole(text, '--timeout', { min: 1, max: MAX_SECONDS }))
}

/**
 * Asks before something is sent to a chain that is not the local one, after showing what it would do. `--yes` skips the
 * question. Throws when the answer is no, when there is nobody to ask, and when the wait that follows is misspelt.
 */
export async function confirm(
  { args, output, environment }: CommandContext,
  doing: string,
  preview: () => readonly string[] | Promise<readonly string[]> = () => [],
): Promise<void> {
  timeoutMsOf(args)
  const { target, passwords } = environment
  if (target.devnet !== undefined || args.flag('yes')) return
  const { streams } = passwords
  if (streams.input.isTTY !== true) {
    const message = `${doing} would be sent to ${target.chain}, and there is no terminal to ask on: add --yes to send it.`
    throw new UsageError(message)
  }
  output.noteLines(await preview())
  const onStop = 'Stopped at the question. Nothing was sent.'
  const question = plainText(`${doing} on ${target.chain}. Send it? [y/N] `)
  const answer = await promptLine(streams, question, { isHidden: false, onStop })
  if (/^y(?:es)?$/i.test(answer.trim())) return
  throw new CliError('DECLINED', EXIT_CODES.interrupted, 'Nothing was sent.')
}
