import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunningDevnet } from '../startDevnet.ts'
import type { StandInProvider } from './standInProvider.ts'

/** The changes to what the local chain's file says. */
interface ProviderChainsOptions {
  /** Name of the file in the data folder of the local chain. */
  readonly name: string
  /** False to leave out the WebSockets, so that the service has to ask for heads. Default true. */
  readonly withSockets?: boolean
  /** Entries that are added to the chain's, or replace them. */
  readonly entry?: object
}

const CHAIN = 'arbitrum-sepolia'

/**
 * Writes a chains file that leads to the local chain through providers, in order of preference. Returns its path, for
 * `BEZEL_CHAINS_FILE`.
 */
export function writeProviderChains(
  { file, folder }: Pick<RunningDevnet, 'file' | 'folder'>,
  providers: readonly Pick<StandInProvider, 'url' | 'wsUrl'>[],
  { name, withSockets = true, entry }: ProviderChainsOptions,
): string {
  const path = join(folder, name)
  const { rpcUrl: _, wsUrl: __, ...described } = file.chains[CHAIN]!
  const urls = {
    rpcUrls: providers.map(({ url }) => url),
    wsUrls: withSockets ? providers.map(({ wsUrl }) => wsUrl) : [],
  }
  const chains = { [CHAIN]: { ...described, ...urls, ...entry } }
  writeFileSync(path, JSON.stringify({ chains, feedUrl: file.feedUrl }))
  return path
}
