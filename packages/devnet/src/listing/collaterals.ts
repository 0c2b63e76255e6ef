import type { ChainSlug } from '@bezel/protocol'

/** A token the local Diamond of a chain accepts as collateral. */
export interface ListedCollateral {
  /** 1-based, as on chain. */
  readonly index: number
  readonly symbol: string
  readonly decimals: number
  /** USD per token, as a decimal; 1e8 on chain. */
  readonly priceUsd: string
  readonly isStable: boolean
}

const DAI = { symbol: 'DAI', decimals: 18, priceUsd: '1', isStable: true }
const USDC = { symbol: 'USDC', decimals: 6, priceUsd: '1', isStable: true }
/** At the start price of ETH/USD: a collateral's price does not follow the feed here. */
const WETH = { symbol: 'WETH', decimals: 18, priceUsd: '2500', isStable: false }
const GNS = { symbol: 'GNS', decimals: 18, priceUsd: '1.5', isStable: false }
/** No public source gives its decimals; 18 is ours. */
const BTC_USD = { symbol: 'BtcUSD', decimals: 18, priceUsd: '1', isStable: true }
const USDM = { symbol: 'USDm', decimals: 18, priceUsd: '1', isStable: true }

/** Symbols and indices as reported for the live Diamonds; token addresses are the local chain's own. */
export const COLLATERALS: Readonly<Record<ChainSlug, readonly ListedCollateral[]>> = {
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
