import type { MarketRecord } from '@bezel/protocol'

const token = { address: '0x1111111111111111111111111111111111111111' } as const

/** BTC/USD as the service tells it of a Diamond with two collaterals, at rest. */
export const SAMPLE_MARKET: MarketRecord = {
  symbol: 'BTC/USD',
  pairIndex: 0,
  base: 'BTC',
  quote: 'USD',
  group: 'crypto',
  groupIndex: 0,
  feeIndex: 0,
  isOpen: true,
  minLeverage: '1.1',
  maxLeverage: '200',
  minCollateralUsd: '3.75',
  minPositionUsd: '4.125',
  pricePrecision: 2,
  sizePrecision: 5,
  spreadRate: '0.0004',
  fees: { openFeeRate: '0.0006', closeFeeRate: '0.0006', minPositionSizeUsd: '1250' },
  funding: {
    fundingRateLongHourly: '0',
    fundingRateShortHourly: '0',
    borrowingRateHourly: '0',
    openInterestLongUsd: '0',
    openInterestShortUsd: '0',
    skewUsd: '0',
  },
  onlyIsolated: true,
  collaterals: [
    { ...token, symbol: 'WETH', index: 2, decimals: 18 },
    { ...token, symbol: 'USDC', index: 3, decimals: 6 },
  ],
}
