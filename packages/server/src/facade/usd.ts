import { formatDecimal, type Decimal } from '@bezel/protocol'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { usdOfCollateral } from '../trading/valuation/collateralAmounts.ts'

// Clients of the facade count in USDC with six decimals. Amounts are rounded to that before they are added, so that what a client adds up
// is what it is told.

const USD_DECIMALS = 6
const E18_TO_E6 = 10n ** 12n

/** An amount of a token (in its own decimals) in USD (1e6). USDC is taken for what it says, whatever it is quoted at. */
export function usdOf(token: ChainMarkets['collaterals'][number], amount: bigint): bigint {
  return token.symbol === 'USDC' ? amount : usdOfCollateral(amount, token.state) / E18_TO_E6
}

/** 1e6 as text. */
export function usdText(usd: bigint): Decimal {
  return formatDecimal(usd, USD_DECIMALS)
}
