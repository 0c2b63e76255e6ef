import { join, relative } from 'node:path'
import { DEVNET_SETTINGS } from '../packages/devnet/src/config.ts'
import type { LocalDeployment, Sandbox } from './startEverything.ts'

/** Accounts to begin with. The others are in the file. */
const FIRST_ACCOUNTS = ['trader-1', 'agent-1']

/**
 * Returns what `npm start` prints when everything answers: chains, two accounts with their keys, and what to do next,
 * within 80 columns. Only a sandbox has such keys, and everybody knows them. The last line is for programs.
 */
export function startScreen({ url, dataFolder, sandbox }: LocalDeployment): string {
  const data = shortPath(dataFolder)
  const isElsewhere = data !== DEVNET_SETTINGS.BEZEL_DATA.defaultValue
  return [
    'A sandbox on this machine: a fresh chain, with money that is worth nothing.',
    '',
    ...chainLines(sandbox),
    '',
    'Sandbox keys. Everybody knows them: never use them anywhere else.',
    ...accountLines(sandbox),
    '',
    `Console        ${url}`,
    `Documentation  ${url}/docs`,
    `All accounts   ${join(data, 'devnet.json')}`,
    '',
    'Next, in another terminal, a first trade:',
    `  ${isElsewhere ? `BEZEL_DATA=${JSON.stringify(data)} ` : ''}node examples/run.mjs firstTrade`,
    '',
    'Ctrl-C stops everything.',
    `READY ${url}`,
  ].join('\n')
}

function chainLines({ chains }: Sandbox): string[] {
  const rows = Object.entries(chains).map(([slug, { chainId, rpcUrl }]) => [slug, String(chainId), rpcUrl] as const)
  const table = [['Chain', 'Id', 'RPC address'] as const, ...rows]
  const [slugWidth, idWidth] = [0, 1].map((column) => Math.max(...table.map((row) => row[column]!.length)))
  return table.map(([slug, id, rpcUrl]) => `${slug.padEnd(slugWidth!)}  ${id.padEnd(idWidth!)}  ${rpcUrl}`)
}

function accountLines({ accounts }: Sandbox): string[] {
  return accounts
    .filter(({ name }) => FIRST_ACCOUNTS.includes(name))
    .flatMap(({ name, address, privateKey }) => [`${name.padEnd(8)}  ${address}`, `     key  ${privateKey}`])
}

/** Returns the path relative to the current folder when it is inside it. */
function shortPath(path: string): string {
  const fromHere = relative('.', path)
  return fromHere.startsWith('..') ? path : fromHere
}
