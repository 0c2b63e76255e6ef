import { fitHelp, GLOBAL_OPTIONS } from './commandLine/helpText.ts'
import { parseCommandLine, type Invocation } from './commandLine/parseCommandLine.ts'
import { completionCommand } from './commandLine/completion.ts'
import { typedOptions, refuseSecrets } from './arguments/readOptions.ts'
import { createEnvironment } from './connection/environment.ts'
import { CliError, EXIT_CODES, type ExitCode, InterruptedError } from './errors/cliError.ts'
import { errorDocument, exitCodeOf } from './errors/errorDocument.ts'
import { sentenceOf } from './errors/sentenceOf.ts'
import type { Interruption } from './commands/interruption.ts'
import type { PromptInput } from './keys/readPassword.ts'
import type { Typing } from './output/advice.ts'
import { createOutput, type Output, type OutputStream } from './output/createOutput.ts'
import { plainText } from './output/text.ts'
import packageJson from '../package.json' with { type: 'json' }
import { accountCommand, approveCommand } from './commands/account.ts'
import { agentAuthoriseCommand, agentDelegateCommand } from './commands/agents/agentAuthorise.ts'
import { agentNewCommand } from './commands/agents/agentNew.ts'
import { agentRevokeCommand } from './commands/agents/agentRevoke.ts'
import { agentStatusCommand } from './commands/agents/agentStatus.ts'
import { cancelCommand, changeCommand, ordersCommand } from './commands/orders.ts'
import { auditCommand } from './commands/history/audit.ts'
import { closeCommand } from './commands/close.ts'
import type { Command } from './commands/command.ts'
import { flattenCommand } from './commands/endAll.ts'
import { exportCommand, fillsCommand } from './commands/history/fills.ts'
import { keyIssueCommand, keyListCommand, keyRevokeCommand } from './commands/agents/apiKeys.ts'
import { bookCommand } from './commands/markets/book.ts'
import { candlesCommand, priceCommand } from './commands/markets/prices.ts'
import { fundingCommand, marketsCommand } from './commands/markets/markets.ts'
import { dismissNoticeCommand, noticesCommand } from './commands/history/notices.ts'
import { orderCommand } from './commands/order.ts'
import { positionsCommand } from './commands/positions.ts'
import { reclaimCommand, setCommand } from './commands/set.ts'
import { previewCloseCommand, previewOrderCommand, previewPositionCommand } from './commands/preview.ts'
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
  bookCommand,
  candlesCommand,
  fundingCommand,
  agentNewCommand,
  agentAuthoriseCommand,
  agentDelegateCommand,
  agentStatusCommand,
  agentRevokeCommand,
  keyIssueCommand,
  keyListCommand,
  keyRevokeCommand,
  accountCommand,
  approveCommand,
  previewOrderCommand,
  previewCloseCommand,
  previewPositionCommand,
  orderCommand,
  ordersCommand,
  changeCommand,
  cancelCommand,
  positionsCommand,
  setCommand,
  reclaimCommand,
  closeCommand,
  flattenCommand,
  fillsCommand,
  exportCommand,
  auditCommand,
  noticesCommand,
  dismissNoticeCommand,
  watchCommand,
  completionCommand,
]

/** Version of this command line. */
const VERSION: string = packageJson.version

/** Runs one command line and returns its exit code. A failure is printed as a sentence. */
export async function runCli(host: CliHost): Promise<ExitCode> {
  const { argv, env, stdout, stderr } = host
  const output = createOutput({ stdout, stderr, env, isJson: argv.includes('--json'), typing: typingOf(host) })
  try {
    refuseSecrets(argv)
    await carryOut(parseCommandLine(argv, COMMANDS), output, host)
    return EXIT_CODES.ok
  } catch (error) {
    host.interruption.undo()
    tell(error, output)
    return exitCodeOf(error)
  }
}

/**
 * Options that commands of remedies repeat, because they say where to go and for whom. The URL of a node is none of
 * them: it often holds a key.
 */
const REPEATED = ['url', 'chain', 'diamond', 'keystore', 'trader-keystore', 'trader', 'as']

/** Returns the way in which the user starts this program. npm names its own command to what it runs. */
function typingOf({ argv, env }: Pick<CliHost, 'argv' | 'env'>): Typing {
  const program = env['npm_command'] === 'exec' ? 'npx bezel' : 'bezel'
  return { program, options: typedOptions(argv, GLOBAL_OPTIONS, REPEATED) }
}

async function carryOut(
  asked: Invocation,
  output: Output,
  { env, stdin, stderr, now, interruption }: CliHost,
): Promise<void> {
  switch (asked.kind) {
    case 'help':
      return output.answer({ help: asked.text }, () => fitHelp(asked.text, output.width))
    case 'version':
      return output.answer({ version: VERSION }, () => [VERSION])
    case 'command': {
      const { command, args } = asked
      const streams = { input: stdin, output: stderr }
      const environment = createEnvironment({ args, env, streams, now, hide: output.hide })
      const running = command.run({ args, output, environment, interruption, commands: COMMANDS })
      await Promise.race([running, interruption.stopped])
    }
  }
}

function tell(error: unknown, output: Output): void {
  const isGoodEnd = error instanceof InterruptedError && error.exitCode === EXIT_CODES.ok
  if (isGoodEnd) return
  output.note(plainText(sentenceOf(error)))
  if (error instanceof CliError && error.more !== undefined) output.note(error.more)
  if (output.isJson) output.event(errorDocument(error, output.typing), () => [])
}
