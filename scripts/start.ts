import { join, relative } from 'node:path'
import process from 'node:process'
import { describeSettings, runProgram, StartupError } from '@bezel/protocol'
import { DEVNET_SETTINGS } from '../packages/devnet/src/config.ts'
import { SERVER_SETTINGS } from '../packages/server/src/settings/config.ts'
import { startEverything, type LocalDeployment } from './startEverything.ts'

const MAINS = {
  chain: new URL('../packages/devnet/src/main.ts', import.meta.url),
  service: new URL('../packages/server/src/main.ts', import.meta.url),
}

const args = process.argv.slice(2)

if (args.includes('--help')) {
  printHelp()
} else {
  await runProgram(process, async (stop) => {
    refuseArguments(args)
    const deployment = await startEverything(MAINS, process.env, stop)
    announce(deployment)
    return deployment
  })
}

function refuseArguments([unknown]: readonly string[]): void {
  if (unknown === undefined) return
  throw new StartupError(
    `npm start takes no argument ${JSON.stringify(unknown)}: settings are environment variables, listed by npm start -- --help.`,
  )
}

function printHelp(): void {
  console.log('npm start runs a local chain and the service on this machine. Settings are environment variables:\n')
  console.log(describeSettings({ ...SERVER_SETTINGS, ...DEVNET_SETTINGS }))
}

/** Prints the addresses. The last line is for programs: it comes once, when everything answers. */
function announce({ url, chainUrl, dataFolder }: LocalDeployment): void {
  console.log(`Local chain  ${chainUrl}`)
  console.log(`Service      ${url}`)
  console.log(`Addresses and funded accounts are in ${shortPath(join(dataFolder, 'devnet.json'))}.`)
  console.log('Ctrl-C stops everything.')
  console.log(`READY ${url}`)
}

/** Returns the path relative to the current folder when it is inside it. */
function shortPath(path: string): string {
  const fromHere = relative('.', path)
  return fromHere.startsWith('..') ? path : fromHere
}
