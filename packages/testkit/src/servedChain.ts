import { CHAINS, type ChainSlug } from '@bezel/protocol'
import type { ServedChain } from '../../server/src/chain/servedChain.ts'

/** Returns a chain for tests, with its live Diamond. No node answers at its URL unless the test sets another one. */
export function testChain(slug: ChainSlug, changes: Partial<ServedChain> = {}): ServedChain {
  const { chainId, testnet, liveDiamond } = CHAINS[slug]
  return {
    slug,
    chainId,
    testnet,
    diamond: liveDiamond,
    rpcUrl: 'http://127.0.0.1:1/',
    wsUrl: undefined,
    backendUrl: undefined,
    requestTimeoutBlocks: undefined,
    writes: true,
    finality: { blocks: 64 },
    relayer: {},
    startBlock: 0,
    ...changes,
  }
}
