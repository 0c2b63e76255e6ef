import process from 'node:process'
import { describeSettings, runProgram, StartupError } from '@bezel/protocol'
import { buildConsole } from '../packages/console/build/buildConsole.ts'
import { DEVNET_SETTINGS } from '../packages/devnet/src/config.ts'
import { SERVER_SETTINGS } from '../packages/server/src/settings/config.ts'
import { startEverything } from './startEverything.ts'
import { startScreen } from './startScreen.ts'

const MAINS = {
  chain: new URL('../packages/devnet/src/main.ts', import.meta.url),
  service: new URL('../packages/server/src/main.ts', import.meta.url),
  buildConsole: buildConsoleIfPossible,
}

const args = process.argv.slice(2)

if (args.includes('--help')) {
  printHelp()
} else {
  await runProgram(process, async (stop) => {
    refuseArguments(args)
    // On stderr, like everything that is no result: programs wait for the last line of stdout.
    const deployment = await startEverything(MAINS, process.env, stop, (line) => console.error(line))
    console.log(startScreen(deployment))
    return deployment
  })
}

function refuseArguments([unknown]: readonly string[]): void {
  if (unknown === undefined) return
  throw new StartupError(
    `npm start takes no argument ${JSON.stringify(unknown)}: settings are environment variables, listed by npm start -- --help.`,
  )
}

/** Builds the console. Without it the service does everything else, so a build that fails stops nothing. */
async function buildConsoleIfPossible(progress: (line: string) => void): Promise<void> {
  try {
    await buildConsole({ onBuild: () => progress('Building the console ...') })
  } catch (error) {
    progress(`The console could not be built, and everything else goes on: ${(error as Error).message}`)
  }
}

function printHelp(): void {
  console.log('npm start runs a local chain and the service on this machine. Settings are environment variables:\n')
  console.log(describeSettings({ ...SERVER_SETTINGS, ...DEVNET_SETTINGS }))
}
