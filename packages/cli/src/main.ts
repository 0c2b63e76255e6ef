import process from 'node:process'
import { EXIT_CODES } from './errors/cliError.ts'
import { sentenceOf } from './errors/sentenceOf.ts'
import { createInterruption } from './commands/interruption.ts'
import { spellCommands } from './output/advice.ts'
import { runCli } from './runCli.ts'

const interruption = createInterruption()

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    // A second signal ends the process at once.
    if (interruption.signal.aborted) process.exit(EXIT_CODES.interrupted)
    interruption.stop()
  })
}

process.on('exit', interruption.undo)

// A reader that has read enough and closed the pipe (`| head`) is no failure.
process.stdout.on('error', () => process.exit(EXIT_CODES.ok))

for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => {
    interruption.undo()
    process.stderr.write(`${spellCommands(sentenceOf(error))}\n`)
    process.exit(EXIT_CODES.unexpected)
  })
}

const { env, stdin, stdout, stderr } = process

const exitCode = await runCli({ argv: process.argv.slice(2), env, stdin, stdout, stderr, now: Date.now, interruption })

// Exits although connections are kept alive, after everything written has been flushed.
stdout.write('', () => stderr.write('', () => process.exit(exitCode)))
