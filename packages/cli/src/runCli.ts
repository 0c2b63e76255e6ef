import { parseCommandLine, type Asked } from './arguments/parseCommandLine.ts'
import { refuseSecrets } from './arguments/refuseSecrets.ts'
import { COMMANDS } from './commands/commandList.ts'
import { createEnvironment } from './connection/environment.ts'
import { CliError } from './errors/cliError.ts'
import { errorDocument } from './errors/errorDocument.ts'
import { exitCodeOf } from './errors/exitCodeOf.ts'
import { EXIT_CODES, type ExitCode } from './errors/exitCodes.ts'
import { InterruptedError } from './errors/interruptedError.ts'
import { sentenceOf } from './errors/sentenceOf.ts'
import type { Interruption } from './interruption.ts'
import type { PromptInput } from './keys/promptHidden.ts'
import { createOutput, type Output, type OutputStream } from './output/createOutput.ts'
import { plainText } from './output/plainText.ts'
import { VERSION } from './version.ts'

export interface CliHost {
  /** Behind the name of the program. */
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: PromptInput
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly interruption: Interruption
}

/** Runs one command line and gives its exit code. Whatever fails is told in a sentence. */
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

async function carryOut(asked: Asked, output: Output, { env, stdin, stderr, interruption }: CliHost): Promise<void> {
  switch (asked.kind) {
    case 'help':
      return output.answer({ help: asked.text }, () => [asked.text])
    case 'version':
      return output.answer({ version: VERSION }, () => [VERSION])
    case 'command': {
      const { command, args } = asked
      const streams = { input: stdin, output: stderr }
      const environment = createEnvironment({ args, env, streams, hide: output.hide })
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
