import { CUT, encodeCut, FACETS, linkBytecode, loadArtifact, selectorsOf, type FacetCut } from '@bezel/contracts'
import { diamondAbi } from '@bezel/protocol'
import { toFunctionSelector, zeroAddress, type Address, type Hex } from 'viem'
import type { LocalChain } from '../chain/createLocalChain.ts'
import { invalidParams, RPC_CODES, RpcError } from '../chain/jsonRpc.ts'
import type { Diamond } from '../diamond/createDiamond.ts'
import { arrival, type Wallet } from './createWallet.ts'

/** Changes the Diamond of a running chain, as an upgrade of the live one does. */
export interface Cutter {
  /**
   * Deploys a facet anew and gives it all of its functions, also those that the Diamond does not have. Resolves with
   * the hash of the cut once it is mined.
   */
  replace(facet: string): Promise<Hex>
  /** Takes a function away from the Diamond. */
  remove(functionName: string): Promise<Hex>
}

/** Facets that can be deployed anew: those of the Diamond, and one with an event in another layout. */
const DEPLOYABLE: readonly string[] = [...FACETS, 'OtherLayoutFacet']

/** Creates the cutter. `wallet` is the deployer's, who may cut. */
export function createCutter(chain: LocalChain, wallet: Wallet, diamond: Diamond): Cutter {
  async function deploy(contractName: string): Promise<Address> {
    const artifact = loadArtifact(contractName)
    const libraries = new Map<string, Address>()
    for (const name of Object.keys(artifact.linkReferences)) libraries.set(name, await deploy(name))
    const hash = await wallet.send(
      null,
      linkBytecode(artifact, (name) => libraries.get(name)!),
    )
    const { contractAddress } = await arrival(chain, hash)
    return contractAddress!
  }

  async function cut(cuts: readonly FacetCut[]): Promise<Hex> {
    const hash = await wallet.send(
      diamond.address,
      encodeCut(cuts.filter(({ functionSelectors }) => functionSelectors.length > 0)),
    )
    if ((await arrival(chain, hash)).status !== '0x1') {
      throw new RpcError(RPC_CODES.server, 'the Diamond refused the cut')
    }
    return hash
  }

  return {
    async replace(facet) {
      if (!DEPLOYABLE.includes(facet)) throw invalidParams(`the facet must be one of ${DEPLOYABLE.join(', ')}`)
      const facetAddress = await deploy(facet)
      const known = new Set((await diamond.read('facets', [])).flatMap(({ functionSelectors }) => functionSelectors))
      const selectors = selectorsOf(loadArtifact(facet).abi)
      return cut([
        { facetAddress, action: CUT.replace, functionSelectors: selectors.filter((selector) => known.has(selector)) },
        { facetAddress, action: CUT.add, functionSelectors: selectors.filter((selector) => !known.has(selector)) },
      ])
    },
    async remove(functionName) {
      const found = diamondAbi.find((entry) => entry.type === 'function' && entry.name === functionName)
      if (found?.type !== 'function') throw invalidParams(`the Diamond has no function ${functionName}`)
      return cut([{ facetAddress: zeroAddress, action: CUT.remove, functionSelectors: [toFunctionSelector(found)] }])
    },
  }
}
