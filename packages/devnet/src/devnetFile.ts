import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PUBLISHED_ACCOUNTS } from './deploy/accounts.ts'
import type { ChainPlan } from './deploy/planChain.ts'

export const DEVNET_FILE_NAME = 'devnet.json'

/** A chain as devnet.json tells of it. */
export interface DescribedChain {
  readonly slug: string
  readonly chainId: number
  readonly plan: ChainPlan
}

export interface DevnetUrls {
  /** Of JSON-RPC, without the chain's path. */
  readonly rpc: string
  /** Of the service beside it. */
  readonly base: string
}

/** Tells tools, tests and the service where everything is. Appears as a whole, only when everything answers. */
export function writeDevnetFile(folder: string, chains: readonly DescribedChain[], urls: DevnetUrls): void {
  const file = join(folder, DEVNET_FILE_NAME)
  const content = {
    chains: Object.fromEntries(chains.map((chain) => [chain.slug, describe(chain, urls.rpc)])),
    accounts: PUBLISHED_ACCOUNTS.map(({ name, account, privateKey }) => ({
      name,
      address: account.address,
      privateKey,
    })),
    baseUrl: urls.base,
    feedUrl: `${urls.rpc}/feed`,
  }
  writeFileSync(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`)
  renameSync(`${file}.new`, file)
}

function describe({ slug, chainId, plan }: DescribedChain, rpcUrl: string) {
  return {
    chainId,
    rpcUrl: `${rpcUrl}/${slug}`,
    wsUrl: `${rpcUrl.replace(/^http/, 'ws')}/${slug}`,
    diamond: plan.diamond,
    collaterals: plan.collaterals.map(({ symbol, index, address, decimals }) => ({ symbol, index, address, decimals })),
  }
}
