import { encodeFunctionData, toFunctionSelector, type AbiFunction, type Abi, type Address, type Hex } from 'viem'
import { loadArtifact } from './artifact.ts'
import type { Deployment } from './deployment.ts'

/** The facets of the local Diamond, except the one that cuts. */
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

/** Actions of a cut (EIP-2535). */
export const CUT = { add: 0, replace: 1, remove: 2 } as const

/** A part of a cut: functions that are given to a facet, or taken away (with the zero address as the facet). */
export type FacetCut = {
  facetAddress: Address
  action: (typeof CUT)[keyof typeof CUT]
  functionSelectors: readonly Hex[]
}

/** A Diamond that is being deployed: its addresses, and the functions that add its settings. */
export type DiamondDeployment = {
  diamond: Address
  /** Address of setup/Configure.sol. */
  configureAddress: Address
  /** Adds a call of a facet's own setter. */
  call(facet: string, functionName: string, args: readonly unknown[]): void
  /** Adds a call of setup/Configure.sol, which `diamondCut` runs in the Diamond's storage. */
  configure(functionName: string, args: readonly unknown[]): void
}

/** Adds the Diamond, its facets and their libraries to a deployment. The deployer holds all roles. */
export function deployDiamond(deployment: Deployment): DiamondDeployment {
  const cut = loadArtifact('DiamondCutFacet')
  const cutFacet = deployment.deploy('DiamondCutFacet')
  const diamond = deployment.deploy('Diamond', [deployment.deployer, cutFacet, selectorsOf(cut.abi)[0]])
  // One cut per facet: a single cut for all would be the heaviest transaction by far, and a node that traces it needs
  // 50 MB.
  for (const facet of FACETS) {
    const functionSelectors = selectorsOf(loadArtifact(facet).abi)
    const cuts = [{ facetAddress: deployment.deploy(facet), action: CUT.add, functionSelectors }]
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

/** Encodes the `diamondCut` that runs one call of Configure. */
export function encodeConfigure(configure: Address, functionName: string, args: readonly unknown[]): Hex {
  const data = encodeFunctionData({ abi: loadArtifact('Configure').abi, functionName, args })
  return encodeCut([], configure, data)
}

/** Encodes a `diamondCut`. Its initializer, if there is one, runs in the Diamond's storage. */
export function encodeCut(cuts: readonly FacetCut[], initializer: Address = ZERO_ADDRESS, data: Hex = '0x'): Hex {
  const { abi } = loadArtifact('DiamondCutFacet')
  return encodeFunctionData({ abi, functionName: 'diamondCut', args: [cuts, initializer, data] })
}

/** Returns the selectors of all functions of an ABI. */
export function selectorsOf(abi: Abi): Hex[] {
  return abi
    .filter((entry): entry is AbiFunction => entry.type === 'function')
    .map((entry) => toFunctionSelector(entry))
}

const ZERO_ADDRESS: Address = '0x0000000000000000000000000000000000000000'
