import type { ChainSlug } from '@bezel/protocol'

/** A token that the local Diamond of a chain accepts as collateral. */
export interface LocalCollateral {
  /** Index on chain, which starts from 1. */
  readonly index: number
  readonly symbol: string
  readonly decimals: number
  /** Price in USD per token, as a decimal; 1e8 on chain. */
  readonly priceUsd: string
  readonly isStable: boolean
}

const DAI = { symbol: 'DAI', decimals: 18, priceUsd: '1', isStable: true }
const USDC = { symbol: 'USDC', decimals: 6, priceUsd: '1', isStable: true }
/** Priced at the start price of ETH/USD: a collateral's price does not follow the feed here. */
const WETH = { symbol: 'WETH', decimals: 18, priceUsd: '2500', isStable: false }
const GNS = { symbol: 'GNS', decimals: 18, priceUsd: '1.5', isStable: false }
/** No public source has its decimals; 18 is our own choice. */
const BTC_USD = { symbol: 'BtcUSD', decimals: 18, priceUsd: '1', isStable: true }
const USDM = { symbol: 'USDm', decimals: 18, priceUsd: '1', isStable: true }

/**
 * The collaterals of each chain. Symbols and indices are those reported for the live Diamonds; token addresses are the
 * local chain's own.
 */
export const COLLATERALS: Readonly<Record<ChainSlug, readonly LocalCollateral[]>> = {
  arbitrum: [
    { index: 1, ...DAI },
    { index: 2, ...WETH },
    { index: 3, ...USDC },
    { index: 4, ...GNS },
  ],
  base: [
    { index: 1, ...USDC },
    { index: 2, ...BTC_USD },
  ],
  polygon: [
    { index: 1, ...DAI },
    { index: 2, ...WETH },
    { index: 3, ...USDC },
  ],
  megaeth: [{ index: 1, ...USDM }],
  'arbitrum-sepolia': [
    { index: 1, ...DAI },
    { index: 2, ...WETH },
    { index: 3, ...USDC },
    { index: 4, ...GNS },
  ],
}
