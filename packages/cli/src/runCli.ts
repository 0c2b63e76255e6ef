import { parseCommandLine, type Invocation } from './commandLine/parseCommandLine.ts'
import { refuseSecrets } from './arguments/refuseSecrets.ts'
import { createEnvironment } from './connection/environment.ts'
import { CliError, EXIT_CODES, type ExitCode, InterruptedError } from './errors/cliError.ts'
import { errorDocument, exitCodeOf } from './errors/errorDocument.ts'
import { sentenceOf } from './errors/sentenceOf.ts'
import type { Interruption } from './commands/interruption.ts'
import type { PromptInput } from './keys/readPassword.ts'
import { createOutput, type Output, type OutputStream } from './output/createOutput.ts'
import { plainText } from './output/text.ts'
import packageJson from '../package.json' with { type: 'json' }
import { accountCommand } from './commands/account.ts'
import { agentAuthoriseCommand } from './commands/agentAuthorise.ts'
import { agentNewCommand } from './commands/agentNew.ts'
import { agentRevokeCommand } from './commands/agentRevoke.ts'
import { agentStatusCommand } from './commands/agentStatus.ts'
import { amendCommand } from './commands/amend.ts'
import { approveCommand } from './commands/approve.ts'
import { cancelCommand } from './commands/cancel.ts'
import { auditCommand } from './commands/audit.ts'
import { changeCommand } from './commands/change.ts'
import { closeCommand } from './commands/close.ts'
import type { Command } from './commands/command.ts'
import { fillsCommand } from './commands/fills.ts'
import { keyIssueCommand } from './commands/keyIssue.ts'
import { keyListCommand } from './commands/keyList.ts'
import { keyRevokeCommand } from './commands/keyRevoke.ts'
import { marketsCommand } from './commands/markets.ts'
import { orderCommand } from './commands/order.ts'
import { ordersCommand } from './commands/orders.ts'
import { positionsCommand } from './commands/positions.ts'
import { reclaimCommand } from './commands/reclaim.ts'
import { priceCommand } from './commands/price.ts'
import { watchCommand } from './commands/watch.ts'

interface CliHost {
  /** Arguments after the name of the program. */
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: PromptInput
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  /** Clock in epoch milliseconds. */
  readonly now: () => number
  readonly interruption: Interruption
}

/** Every command, in the order of `bezel --help`. */
export const COMMANDS: readonly Command[] = [
  marketsCommand,
  priceCommand,
  agentNewCommand,
  agentAuthoriseCommand,
  agentStatusCommand,
  agentRevokeCommand,
  keyIssueCommand,
  keyListCommand,
  keyRevokeCommand,
  accountCommand,
  approveCommand,
  orderCommand,
  ordersCommand,
  amendCommand,
  cancelCommand,
  positionsCommand,
  changeCommand,
  reclaimCommand,
  closeCommand,
  fillsCommand,
  auditCommand,
  watchCommand,
]

/** Version of this command line. */
const VERSION: string = packageJson.version

/** Runs one command line and returns its exit code. A failure is printed as a sentence. */
export async function runCli(host: CliHost): Promise<ExitCode> {
  const { argv, env, stdout, stderr } = host
  const output = createOutput({ stdout, stderr, env, isJson: argv.includes('--json') })
  try {
    refuseSecrets(argv)
    await carryOut(parseCommandLine(argv, COMMANDS), output, host)
    return EXIT_CODES.ok
  } catch (error) {
    tell(error, output)
    return exitCodeOf(error)
  }
}

async function carryOut(
  asked: Invocation,
  output: Output,
  { env, stdin, stderr, now, interruption }: CliHost,
): Promise<void> {
  switch (asked.kind) {
    case 'help':
      return output.answer({ help: asked.text }, () => [asked.text])
    case 'version':
      return output.answer({ version: VERSION }, () => [VERSION])
    case 'command': {
      const { command, args } = asked
      const streams = { input: stdin, output: stderr }
      const environment = createEnvironment({ args, env, streams, now, hide: output.hide })
      const running = command.run({ args, output, environment, interruption })
      await Promise.race([running, interruption.stopped])
    }
  }
}

function tell(error: unknown, output: Output): void {
  const isGoodEnd = error instanceof InterruptedError && error.exitCode === EXIT_CODES.ok
  if (isGoodEnd) return
  output.note(plainText(sentenceOf(error)))
  if (error instanceof CliError && error.more !== undefined) output.note(error.more)
  if (output.isJson) output.event(errorDocument(error), () => [])
}
