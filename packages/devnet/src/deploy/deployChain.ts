import {
  loadArtifact,
  createDeployment,
  deployDiamond,
  type Deployment,
  type DiamondDeployment,
} from '@bezel/contracts'
import type { ChainSlug } from '@bezel/protocol'
import { encodeFunctionData, maxUint256, type Hex, parseUnits, type Address } from 'viem'
import type { LocalChain } from '../chain/createLocalChain.ts'
import { DEPLOYER, TRADERS } from './accounts.ts'
import { signTransaction } from './createWallet.ts'
import { COLLATERALS, type LocalCollateral } from '../listing/collaterals.ts'
import { PAIRS, type LocalPair } from '../listing/pairs.ts'
import { configurePairs, configureTrading, type DeployedCollateral } from './configureDiamond.ts'

export interface ChainPlan {
  readonly diamond: Address
  readonly configure: Address
  readonly linkToken: Address
  readonly collaterals: readonly DeployedCollateral[]
  /** Transactions in the order of the deployer's nonces, from 0. */
  readonly transactions: Deployment['transactions']
}

export const STABLE_PER_TRADER = '1000000'

export const OTHER_PER_TRADER = '100'

/** Amounts that the vaults can pay out as profit. */
const STABLE_IN_VAULT = '1000000000'

const OTHER_IN_VAULT = '1000000'

/** Hex digits of the transactions in one block: 16 KB, or one transaction that is larger. */
const MAX_BLOCK_HEX = 32_000

/** Deploys, lists, funds and approves everything on a fresh chain. Throws when a transaction fails. */
export async function deployChain(
  chain: LocalChain,
  slug: ChainSlug,
  pairs: readonly LocalPair[] = PAIRS,
): Promise<ChainPlan> {
  const plan = planChain(slug, pairs)
  const signed = await Promise.all(
    plan.transactions.map((transaction, nonce) => signTransaction(chain, DEPLOYER.account, { ...transaction, nonce })),
  )
  await sendAll(chain, [...signed, ...(await signApprovals(chain, plan))])
  return plan
}

/**
 * Signs each trader's approval for the Diamond to take its collateral, as a wallet does once before its first trade.
 */
function signApprovals(chain: LocalChain, { diamond, collaterals }: ChainPlan): Promise<Hex[]> {
  const { abi } = loadArtifact('Token')
  const data = encodeFunctionData({ abi, functionName: 'approve', args: [diamond, maxUint256] })
  return Promise.all(
    TRADERS.flatMap(({ account }) =>
      collaterals.map(({ address: to }, nonce) => signTransaction(chain, account, { to, data, value: 0n, nonce })),
    ),
  )
}

/** Sends and mines transactions in order. Throws when one fails. */
async function sendAll(chain: LocalChain, signed: readonly Hex[]): Promise<void> {
  for (const block of blocksOf(signed)) {
    const hashes: Hex[] = []
    for (const raw of block) hashes.push(await chain.request<Hex>('eth_sendRawTransaction', [raw]))
    await chain.mine()
    for (const [position, hash] of hashes.entries()) {
      const receipt = await chain.request<{ status: Hex } | null>('eth_getTransactionReceipt', [hash])
      if (receipt?.status === '0x1') continue
      throw new Error(`transaction ${signed.indexOf(block[position]!)} of the deployment on ${chain.slug} failed`)
    }
  }
}

/**
 * Groups consecutive transactions into blocks. EDR keeps a trace of a block while it mines, and a block of heavy
 * transactions takes hundreds of megabytes; one block per transaction would be 180 blocks for every follower to read.
 */
function blocksOf(signed: readonly Hex[]): Hex[][] {
  const blocks: Hex[][] = []
  let length = Infinity
  for (const raw of signed) {
    length += raw.length
    if (length <= MAX_BLOCK_HEX) {
      blocks.at(-1)!.push(raw)
      continue
    }
    blocks.push([raw])
    length = raw.length
  }
  return blocks
}

/** Plans everything that the deployer sends to a fresh chain: tokens, Diamond, vaults, listing, money. */
function planChain(slug: ChainSlug, pairs: readonly LocalPair[]): ChainPlan {
  const deployment = createDeployment(DEPLOYER.account.address)
  const linkToken = deployment.deploy('Token', ['ChainLink Token', 'LINK', 18])
  const diamond = deployDiamond(deployment)
  const collaterals = COLLATERALS[slug].map((listed) => deployCollateral(deployment, diamond, listed))
  configureTrading(diamond, slug, linkToken, collaterals)
  configurePairs(diamond, collaterals, pairs)
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
  listed: LocalCollateral,
): DeployedCollateral {
  const name = `${listed.symbol} of the local chain`
  const address = isWrapped(listed)
    ? deployment.deploy('WrappedNative', [name, listed.symbol])
    : deployment.deploy('Token', [name, listed.symbol, listed.decimals])
  const vault = deployment.deploy('Vault', [address, diamond.diamond])
  const priceFeed = deployment.deploy('UsdPriceFeed', [parseUnits(listed.priceUsd, 8)])
  return { ...listed, address, vault, priceFeed }
}

function isWrapped({ symbol }: LocalCollateral): boolean {
  return symbol === 'WETH'
}

/** Gives tokens to an account: mints them, or for WETH wraps coins of the deployer and passes them on. */
export function give(
  deployment: Pick<Deployment, 'call' | 'send'>,
  collateral: DeployedCollateral,
  to: Address,
  amount: string,
): void {
  const { abi } = loadArtifact('WrappedNative')
  const units = parseUnits(amount, collateral.decimals)
  if (!isWrapped(collateral)) return deployment.call(collateral.address, abi, 'mint', [to, units])
  deployment.send(collateral.address, '0x', units) // receive() of the token is deposit().
  deployment.call(collateral.address, abi, 'transfer', [to, units])
}
