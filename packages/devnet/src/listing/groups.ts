import { PercentP, type MarketSession } from '@bezel/protocol'

/** Liquidation thresholds of a trade by its leverage: thresholds 1e10 per percent of the collateral, leverages 1e3. */
export interface LiquidationThresholds {
  readonly maxLiqSpreadP: bigint
  readonly startLiqThresholdP: bigint
  readonly endLiqThresholdP: bigint
  readonly startLeverage: bigint
  readonly endLeverage: bigint
}

/** A group of pairs with one leverage range. Leverages are 1e3. */
interface ListedGroup {
  readonly index: number
  readonly name: string
  readonly minLeverage: bigint
  readonly maxLeverage: bigint
  readonly liquidation: LiquidationThresholds
  readonly session: MarketSession
}

const PERCENT = PercentP.one

/**
 * Creates liquidation parameters from the units of the source table: `maxLiqSpread` in hundredths of a percent,
 * thresholds in percent, leverages in x.
 */
function liquidation(
  maxLiqSpreadBps: bigint,
  startThresholdPercent: bigint,
  endThresholdPercent: bigint,
  startLeverageX: bigint,
  endLeverageX: bigint,
): LiquidationThresholds {
  return {
    maxLiqSpreadP: (maxLiqSpreadBps * PERCENT) / 100n,
    startLiqThresholdP: startThresholdPercent * PERCENT,
    endLiqThresholdP: endThresholdPercent * PERCENT,
    startLeverage: startLeverageX * 1000n,
    endLeverage: endLeverageX * 1000n,
  }
}

const crypto = liquidation(5n, 90n, 75n, 25n, 60n)
const stocks = liquidation(5n, 90n, 90n, 5n, 5n)

/**
 * The groups: names, leverage ranges and liquidation parameters of the public arbitrum-sepolia sample of June 2025. The
 * live Diamond has a group 11 whose limits no public source has, so it does not exist here.
 */
export const GROUPS: readonly ListedGroup[] = [
  { index: 0, name: 'crypto', minLeverage: 1_100n, maxLeverage: 200_000n, liquidation: crypto, session: 'crypto' },
  {
    index: 1,
    name: 'forex',
    minLeverage: 10_000n,
    maxLeverage: 1_000_000n,
    liquidation: liquidation(2n, 90n, 75n, 100n, 300n),
    session: 'forex',
  },
  { index: 2, name: 'stocks-1', minLeverage: 4_000n, maxLeverage: 50_000n, liquidation: stocks, session: 'stocks' },
  { index: 3, name: 'stocks-2', minLeverage: 3_000n, maxLeverage: 40_000n, liquidation: stocks, session: 'stocks' },
  { index: 4, name: 'stocks-3', minLeverage: 2_000n, maxLeverage: 20_000n, liquidation: stocks, session: 'stocks' },
  { index: 5, name: 'indices', minLeverage: 2_000n, maxLeverage: 35_000n, liquidation: stocks, session: 'stocks' },
  {
    index: 6,
    name: 'commodities-1',
    minLeverage: 2_000n,
    maxLeverage: 250_000n,
    liquidation: liquidation(2n, 90n, 75n, 25n, 100n),
    session: 'commodities',
  },
  {
    index: 7,
    name: 'commodities-2',
    minLeverage: 2_000n,
    maxLeverage: 150_000n,
    liquidation: liquidation(5n, 90n, 70n, 25n, 60n),
    session: 'commodities',
  },
  {
    index: 8,
    name: 'forex-minor',
    minLeverage: 10_000n,
    maxLeverage: 750_000n,
    liquidation: liquidation(2n, 90n, 70n, 75n, 250n),
    session: 'forex',
  },
  {
    index: 9,
    name: 'forex-exotic',
    minLeverage: 10_000n,
    maxLeverage: 500_000n,
    liquidation: liquidation(5n, 90n, 65n, 50n, 200n),
    session: 'forex',
  },
  { index: 10, name: 'altcoins', minLeverage: 1_100n, maxLeverage: 150_000n, liquidation: crypto, session: 'crypto' },
]
