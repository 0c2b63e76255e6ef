import process from 'node:process'
import { createInterruption } from '../../../packages/cli/src/commands/interruption.ts'
import { runCli } from '../../../packages/cli/src/runCli.ts'

/** A command line to run, and the environment to run it in. */
export interface HostedLine {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

// Runs one command line after the other on the terminal of this process, as a shell does, but without a process for
// each: starting one costs more than everything else that a command does.

let interruption = createInterruption()

// The terminal makes it of Ctrl-C, except where a command reads keys itself.
process.on('SIGINT', () => interruption.stop())

process.on('message', (line: HostedLine) => void run(line))

async function run({ argv, env }: HostedLine): Promise<void> {
  const { stdin, stdout, stderr } = process
  interruption = createInterruption()
  const code = await runCli({ argv, env, stdin, stdout, stderr, now: Date.now, interruption })
  // Comes after everything that the command wrote, and no terminal shows it.
  stdout.write(`\u001b]exit ${code}\u0007`)
}
