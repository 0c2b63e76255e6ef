// Scales of the Diamond. Every division of these modules truncates toward zero, which is what Solidity does and what bigint's `/`
// does, so `x / a / b` and `x / (a * b)` are the same number for positive a and b.

/** Of prices, of factors, and of percentages whose name ends in P: 1 % is 1e10. */
export const P_10 = 10n ** 10n

/** 100 %. */
export const HUNDRED_PERCENT = 100n * P_10

/** Of leverage and of multipliers. */
export const ONE_E3 = 1_000n

/** Of a collateral's USD price. */
export const USD_PRICE_ONE = 10n ** 8n

export const SECONDS_PER_YEAR = 31_536_000n

export const SECONDS_PER_HOUR = 3_600n

export function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value
}

export function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

export function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
