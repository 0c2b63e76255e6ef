import process from 'node:process'
import { describeSettings, refuseArguments, runProgram } from '@bezel/protocol'
import { run } from './run.ts'
import { readServerConfig, SERVER_SETTINGS } from './settings/config.ts'

const HELP = `bezel-server start runs the service, as npm run serve does, until a SIGTERM or Ctrl-C. A second one ends it at
once. Settings are environment variables:

${describeSettings(SERVER_SETTINGS)}`

/** Runs the service in this process until it is told to stop. Takes no arguments but `--help`. */
export async function runService(args: readonly string[]): Promise<void> {
  if (args.includes('--help')) return console.log(HELP)
  await runProgram(process, async () => {
    refuseArguments(['node', 'start', ...args])
    return run(readServerConfig(process.env))
  })
}
