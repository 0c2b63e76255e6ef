import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isSandboxAddress, StartupError, type Address } from '@bezel/protocol'
import { SANDBOX_MARKER_NAME } from '@bezel/protocol/dataFolder'
import { isLive, type ServedChain } from './chain/servedChain.ts'
import { DEFAULT_DOMAIN_NAME } from './settings/config.ts'

/** The parts of a deployment that decide whether it may serve a live Diamond. */
export interface StartOptions {
  readonly chains: readonly Pick<ServedChain, 'slug' | 'diamond'>[]
  readonly domainName: string
  readonly dataFolder: string
  /** Address of the relayer's key; `undefined` without one. */
  readonly relayer: Address | undefined
}

/**
 * Throws a `StartupError` for a deployment that serves a live Diamond with something of the sandbox: its signing name,
 * which other deployments share, so that a request signed for one is valid at all of them; a key that everybody can
 * compute; or its data folder, which its next start wipes. Without a live Diamond there is nothing to lose.
 */
export function refuseUnsafeStart({ chains, domainName, dataFolder, relayer }: StartOptions): void {
  const live = chains.filter(isLive).map(({ slug }) => slug)
  if (live.length === 0) return
  const served = `the live Diamond of ${live.join(', ')} is served`
  if (domainName === DEFAULT_DOMAIN_NAME) {
    throw new StartupError(
      `BEZEL_DOMAIN_NAME is the default and ${served}: a request signed for any other deployment of that name would be valid here too, so set a name of your own.`,
    )
  }
  if (relayer !== undefined && isSandboxAddress(relayer)) {
    throw new StartupError(
      `The relayer's key (${relayer}) is one of the sandbox's, which everybody knows, and ${served}: set BEZEL_RELAYER_KEY_FILE to the file of a key of your own.`,
    )
  }
  if (existsSync(join(dataFolder, SANDBOX_MARKER_NAME))) {
    throw new StartupError(
      `The data folder ${dataFolder} is the sandbox's, which wipes it at each start, and ${served}: set BEZEL_DATA to a folder of its own.`,
    )
  }
}
