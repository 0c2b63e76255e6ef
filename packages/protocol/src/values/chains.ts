import type { Address } from './identifiers.ts'

/**
 * The facts about a chain that are the same wherever the service runs.
 *
 * Block numbers: every one that the Diamond stores or emits (`createdBlock`, `lastPosIncreaseBlock`, the blocks of
 * borrowing fees) and every timeout it counts is in blocks of the chain's own node, `eth_blockNumber`, on all of these
 * chains. On Arbitrum, where Solidity's `block.number` is the block of Ethereum, the contracts ask ArbSys for the
 * chain's own. So the two may be compared everywhere, and nothing is converted.
 */
export interface Chain {
  /** Name of the chain in paths, for instance `base`. */
  readonly slug: string
  /** Name of the chain for people. */
  readonly name: string
  /** Id of the chain. */
  readonly chainId: number
  /** Address of the live Diamond. A local chain with the same id has its own, named in its chains file. */
  readonly liveDiamond: Address
  /** True for a chain without real money. */
  readonly testnet: boolean
  /**
   * Milliseconds per block that the Diamond assumes when it turns a timeout in seconds into blocks. `undefined` where
   * no public source establishes it: read `getMarketOrdersTimeoutBlocks()` there, and never compute a timeout from
   * seconds.
   */
  readonly nativeMsPerBlock: number | undefined
  /** Time between two blocks of the live chain's node, in ms. Nominal: turns a time into a number of blocks. */
  readonly blockMs: number
}

const chain = <const T extends Omit<Chain, 'liveDiamond'>>(fixed: T, liveDiamond: string): T & Chain =>
  Object.freeze({ ...fixed, liveDiamond: liveDiamond as Address })

/**
 * Every chain of the interface, by the slug used in paths. Diamond addresses are in EIP-55 form, which a test checks.
 */
export const CHAINS = Object.freeze({
  arbitrum: chain(
    { slug: 'arbitrum', name: 'Arbitrum One', chainId: 42161, testnet: false, nativeMsPerBlock: 300, blockMs: 250 },
    '0xFF162c694eAA571f685030649814282eA457f169',
  ),
  base: chain(
    { slug: 'base', name: 'Base', chainId: 8453, testnet: false, nativeMsPerBlock: 2000, blockMs: 2000 },
    '0x6cD5aC19a07518A8092eEFfDA4f1174C72704eeb',
  ),
  polygon: chain(
    { slug: 'polygon', name: 'Polygon PoS', chainId: 137, testnet: false, nativeMsPerBlock: 2200, blockMs: 2000 },
    '0x209A9A01980377916851af2cA075C2b170452018',
  ),
  megaeth: chain(
    { slug: 'megaeth', name: 'MegaETH', chainId: 4326, testnet: false, nativeMsPerBlock: undefined, blockMs: 1000 },
    '0x2D5B1ba6E2093a5b927Fe5bF8C049B107de31eaF',
  ),
  'arbitrum-sepolia': chain(
    {
      slug: 'arbitrum-sepolia',
      name: 'Arbitrum Sepolia',
      chainId: 421614,
      testnet: true,
      nativeMsPerBlock: 300,
      blockMs: 250,
    },
    '0xd659a15812064C79E189fd950A189b15c75d3186',
  ),
})

/** Name of a chain in paths; only `parseChainSlug` makes one from text. */
export type ChainSlug = keyof typeof CHAINS

/** All slugs, in the order of the table. */
export const CHAIN_SLUGS = Object.freeze(Object.keys(CHAINS) as ChainSlug[])

/** Parses the slug of a chain; `undefined` for any other text. Slugs are in lower case. */
export function parseChainSlug(text: string): ChainSlug | undefined {
  return Object.hasOwn(CHAINS, text) ? (text as ChainSlug) : undefined
}
