import {
  createDeployment,
  deployDiamond,
  loadArtifact,
  type Deployment,
  type DiamondDeployment,
} from '@bezel/contracts'
import type { ChainSlug } from '@bezel/protocol'
import { parseUnits, type Address } from 'viem'
import { COLLATERALS, type ListedCollateral } from '../listing/collaterals.ts'
import { DEPLOYER, TRADERS } from './accounts.ts'
import { configurePairs } from './configurePairs.ts'
import { configureTrading } from './configureTrading.ts'
import type { DeployedCollateral } from './deployedCollateral.ts'

export interface ChainPlan {
  readonly diamond: Address
  readonly configure: Address
  readonly linkToken: Address
  readonly collaterals: readonly DeployedCollateral[]
  /** In the order of the deployer's nonces, from 0. */
  readonly transactions: Deployment['transactions']
}

export const STABLE_PER_TRADER = '1000000'
export const OTHER_PER_TRADER = '100'
/** What the vaults can pay out as profit. */
const STABLE_IN_VAULT = '1000000000'
const OTHER_IN_VAULT = '1000000'

/** Everything the deployer sends to a fresh chain: tokens, Diamond, vaults, listing, money. */
export function planChain(slug: ChainSlug): ChainPlan {
  const deployment = createDeployment(DEPLOYER.account.address)
  const linkToken = deployment.deploy('Token', ['ChainLink Token', 'LINK', 18])
  const diamond = deployDiamond(deployment)
  const collaterals = COLLATERALS[slug].map((listed) => deployCollateral(deployment, diamond, listed))
  configureTrading(diamond, slug, linkToken, collaterals)
  configurePairs(diamond, collaterals)
  for (const collateral of collaterals) {
    const { isStable, vault } = collateral
    for (const { account } of TRADERS) {
      give(deployment, collateral, account.address, isStable ? STABLE_PER_TRADER : OTHER_PER_TRADER)
    }
    give(deployment, collateral, vault, isStable ? STABLE_IN_VAULT : OTHER_IN_VAULT)
  }
  return {
    diamond: diamond.diamond,
    configure: diamond.configureAddress,
    linkToken,
    collaterals,
    transactions: deployment.transactions,
  }
}

function deployCollateral(
  deployment: Deployment,
  diamond: DiamondDeployment,
  listed: ListedCollateral,
): DeployedCollateral {
  const name = `${listed.symbol} of the local chain`
  const address = isWrapped(listed)
    ? deployment.deploy('WrappedNative', [name, listed.symbol])
    : deployment.deploy('Token', [name, listed.symbol, listed.decimals])
  const vault = deployment.deploy('Vault', [address, diamond.diamond])
  const priceFeed = deployment.deploy('UsdPriceFeed', [parseUnits(listed.priceUsd, 8)])
  return { ...listed, address, vault, priceFeed }
}

function isWrapped({ symbol }: ListedCollateral): boolean {
  return symbol === 'WETH'
}

/** Mints, or for WETH wraps coins of the deployer and passes them on. */
export function give(
  deployment: Pick<Deployment, 'call' | 'send'>,
  collateral: DeployedCollateral,
  to: Address,
  amount: string,
): void {
  const { abi } = loadArtifact('WrappedNative')
  const units = parseUnits(amount, collateral.decimals)
  if (!isWrapped(collateral)) return deployment.call(collateral.address, abi, 'mint', [to, units])
  deployment.send(collateral.address, '0x', units) // its receive() is deposit()
  deployment.call(collateral.address, abi, 'transfer', [to, units])
}
