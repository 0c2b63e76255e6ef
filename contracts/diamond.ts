import { encodeFunctionData, toFunctionSelector, type AbiFunction, type Abi, type Address, type Hex } from 'viem'
import { loadArtifact } from './artifact.ts'
import type { Deployment } from './deployment.ts'

/** Every facet of the local Diamond beside the one that cuts. */
export const FACETS = [
  'DiamondLoupeFacet',
  'AddressStoreFacet',
  'TradingInteractionsFacet',
  'TradingStorageFacet',
  'CollateralsFacet',
  'PairsStorageFacet',
  'PriceImpactFacet',
  'BorrowingFeesFacet',
  'FundingFeesFacet',
  'FeeTiersFacet',
  'PriceAggregatorFacet',
  'TradingCallbacksFacet',
] as const

const CUT_ADD = 0

/** A Diamond on its way onto a chain: where it will be, and how its settings are made. */
export type DiamondDeployment = {
  diamond: Address
  /** Where setup/Configure.sol stands. */
  configureAddress: Address
  /** A call of a facet's own setter. */
  call(facet: string, functionName: string, args: readonly unknown[]): void
  /** A call of setup/Configure.sol, run by `diamondCut` in the Diamond's storage. */
  configure(functionName: string, args: readonly unknown[]): void
}

/** Adds the Diamond, its facets and their libraries to a deployment; the deployer holds all roles. */
export function deployDiamond(deployment: Deployment): DiamondDeployment {
  const cut = loadArtifact('DiamondCutFacet')
  const cutFacet = deployment.deploy('DiamondCutFacet')
  const diamond = deployment.deploy('Diamond', [deployment.deployer, cutFacet, selectorsOf(cut.abi)[0]])
  // A cut for each facet: one for all of them is the heaviest transaction by far, and a node that traces it needs 50 MB.
  for (const facet of FACETS) {
    const functionSelectors = selectorsOf(loadArtifact(facet).abi)
    const cuts = [{ facetAddress: deployment.deploy(facet), action: CUT_ADD, functionSelectors }]
    deployment.call(diamond, cut.abi, 'diamondCut', [cuts, ZERO_ADDRESS, '0x'])
  }
  const configure = deployment.deploy('Configure')
  return {
    diamond,
    configureAddress: configure,
    call: (facet, functionName, args) => deployment.call(diamond, loadArtifact(facet).abi, functionName, args),
    configure: (functionName, args) => deployment.send(diamond, encodeConfigure(configure, functionName, args), 0n),
  }
}

/** Calldata of the `diamondCut` that runs one call of Configure. */
export function encodeConfigure(configure: Address, functionName: string, args: readonly unknown[]): Hex {
  const data = encodeFunctionData({ abi: loadArtifact('Configure').abi, functionName, args })
  const { abi } = loadArtifact('DiamondCutFacet')
  return encodeFunctionData({ abi, functionName: 'diamondCut', args: [[], configure, data] })
}

/** Selectors of all functions of an ABI. */
export function selectorsOf(abi: Abi): Hex[] {
  return abi
    .filter((entry): entry is AbiFunction => entry.type === 'function')
    .map((entry) => toFunctionSelector(entry))
}

const ZERO_ADDRESS: Address = '0x0000000000000000000000000000000000000000'
