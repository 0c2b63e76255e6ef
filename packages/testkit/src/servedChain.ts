import { CHAINS, type ChainSlug } from '@bezel/protocol'
import type { ServedChain } from '../../server/src/chain/servedChain.ts'

/** The fields of a chain that a test sets, of the addresses only one each. */
type TestChainChanges = Partial<ServedChain> & { readonly rpcUrl?: string; readonly wsUrl?: string | undefined }

/** Returns a chain for tests, with its live Diamond. No node answers at its URL unless the test sets another one. */
export function testChain(
  slug: ChainSlug,
  { rpcUrl = 'http://127.0.0.1:1/', wsUrl, ...changes }: TestChainChanges = {},
): ServedChain {
  const { chainId, testnet, liveDiamond } = CHAINS[slug]
  return {
    slug,
    chainId,
    testnet,
    diamond: liveDiamond,
    rpcUrls: [{ url: rpcUrl }],
    wsUrls: wsUrl === undefined ? [] : [wsUrl],
    backendUrl: undefined,
    requestTimeoutBlocks: undefined,
    writes: true,
    finality: { blocks: 64 },
    confirmFinality: true,
    relayer: {},
    startBlock: 0,
    ...changes,
  }
}
