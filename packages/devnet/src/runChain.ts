import { CHAINS, type ChainSlug } from '@bezel/protocol'
import { rememberBlockTimes } from './chain/eachBlock.ts'
import { createLocalChain, type LocalChain } from './chain/createLocalChain.ts'
import type { DevnetConfig } from './config.ts'
import type { ChainParts } from './controls/controls.ts'
import { DEPLOYER, genesisAccounts, KEEPER, ORACLES } from './deploy/accounts.ts'
import { createCutter } from './deploy/createCutter.ts'
import { createFaucet } from './deploy/createFaucet.ts'
import { createWallet } from './deploy/createWallet.ts'
import { deployChain, type ChainPlan } from './deploy/deployChain.ts'
import { createDiamond } from './diamond/createDiamond.ts'
import type { Prices } from './feed/prices.ts'
import { createKeeper } from './keeper/createKeeper.ts'
import { CHAIN_SETTINGS } from './listing/settings.ts'
import { createOracle } from './oracle/createOracle.ts'

/** A chain with everything that runs on it. */
export interface RunningChain extends ChainParts {
  readonly slug: ChainSlug
  readonly chainId: number
  readonly chain: LocalChain
  readonly plan: ChainPlan
  stop(): Promise<void>
}

/** Creates a chain that does not mine yet. */
export function createChain(slug: ChainSlug, { blockMs }: DevnetConfig): Promise<LocalChain> {
  return createLocalChain({ slug, chainId: CHAINS[slug].chainId, blockMs, accounts: genesisAccounts() })
}

/** Deploys, then starts mining, the oracle and the keeper. */
export async function runChain(
  chain: LocalChain,
  slug: ChainSlug,
  prices: Prices,
  { oracleDelayMs: delayMs }: DevnetConfig,
): Promise<RunningChain> {
  const plan = await deployChain(chain, slug, prices.pairs)
  const report = (error: unknown): void => console.error(`${slug}:`, error)
  const blockTimes = rememberBlockTimes(chain, Date.now)
  const diamond = createDiamond(chain, plan.diamond)
  const wallets = ORACLES.slice(0, CHAIN_SETTINGS[slug].minAnswers).map(({ account }) => createWallet(chain, account))
  const oracle = createOracle({ chain, diamond, prices, blockTimes, wallets, delayMs, now: Date.now, report })
  const wallet = createWallet(chain, KEEPER.account)
  const keeper = createKeeper({ chain, diamond, prices, blockTimes, wallet, report })
  const deployer = createWallet(chain, DEPLOYER.account)
  chain.start()
  return {
    slug,
    chainId: chain.chainId,
    chain,
    plan,
    oracle,
    keeper,
    faucet: createFaucet(chain, deployer, plan),
    cutter: createCutter(chain, deployer, diamond),
    async stop() {
      await Promise.all([oracle.stop(), keeper.stop()])
      await chain.stop()
    },
  }
}
