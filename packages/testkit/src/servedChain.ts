import { CHAINS, type ChainSlug } from '@bezel/protocol'
import type { ServedChain } from '../../server/src/chain/servedChain.ts'

/** A chain of a test, with its live Diamond; nothing answers at its address unless the test gives one. */
export function testChain(slug: ChainSlug, changes: Partial<ServedChain> = {}): ServedChain {
  const { chainId, testnet, liveDiamond } = CHAINS[slug]
  return {
    slug,
    chainId,
    testnet,
    diamond: liveDiamond,
    rpcUrl: 'http://127.0.0.1:1/',
    wsUrl: undefined,
    writes: true,
    finalityDepth: 64,
    relayer: {},
    startBlock: 0,
    ...changes,
  }
}
