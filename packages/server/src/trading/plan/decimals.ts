// How many decimals the Diamond's integers stand for.

export const PRICE_DECIMALS = 10
export const LEVERAGE_DECIMALS = 3
/** Of percent. */
export const SLIPPAGE_DECIMALS = 3
export const USD_DECIMALS = 18
/** Of a size in base units. */
export const BASE_SIZE_DECIMALS = 18
