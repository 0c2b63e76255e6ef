import type { CommandArguments } from '../arguments/commandArguments.ts'
import type { OptionTable } from '../arguments/optionSpec.ts'
import { readWhole } from '../arguments/readWhole.ts'

/** Options of commands that wait for the chain. */
export const WAIT_OPTIONS = {
  'no-wait': { type: 'boolean', what: 'end as soon as the transaction is sent and reported' },
  timeout: { type: 'string', value: 'SECONDS', what: 'how long to wait (90)' },
} as const satisfies OptionTable

const DEFAULT_SECONDS = 90
const MAX_SECONDS = 86_400

/** `--timeout` in milliseconds. */
export function timeoutMsOf(args: CommandArguments): number {
  const text = args.text('timeout')
  return 1_000 * (text === undefined ? DEFAULT_SECONDS : readWhole(text, '--timeout', { min: 1, max: MAX_SECONDS }))
}
