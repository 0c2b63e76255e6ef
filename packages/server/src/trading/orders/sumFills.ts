import { decimalPlaces, formatDecimal, scaleDecimalTruncated, type Decimal, type Fill } from '@bezel/protocol'

/** Places of a price on the chain. */
const PRICE_DECIMALS = 10

/**
 * The fill of an order whose legs were filled one by one, given in the order of the legs: sums, the price weighted by size (cut off at the
 * chain's precision), the position of the first leg, and hash and time of the execution that came last.
 */
export function sumFills(fills: readonly [Fill, ...Fill[]]): Fill {
  const [first] = fills
  if (fills.length === 1) return first
  const last = fills.reduce((latest, fill) => (fill.timestamp >= latest.timestamp ? fill : latest))
  return {
    price: averagePrice(fills),
    size: sum(fills.map(({ size }) => size)),
    collateral: sum(fills.map(({ collateral }) => collateral)),
    feeCollateral: sum(fills.map(({ feeCollateral }) => feeCollateral)),
    txHash: last.txHash,
    timestamp: last.timestamp,
    positionId: first.positionId,
  }
}

function averagePrice(fills: readonly [Fill, ...Fill[]]): Decimal {
  const places = mostPlaces(fills.map(({ size }) => size))
  let weightedPrice = 0n
  let weight = 0n
  for (const { price, size } of fills) {
    const scaledSize = scaleDecimalTruncated(size as Decimal, places)
    weightedPrice += scaleDecimalTruncated(price as Decimal, PRICE_DECIMALS) * scaledSize
    weight += scaledSize
  }
  // Executions so small that no size is left of them: any of their prices will do.
  if (weight === 0n) return fills[0].price as Decimal
  return formatDecimal(weightedPrice / weight, PRICE_DECIMALS)
}

function sum(values: readonly string[]): Decimal {
  const places = mostPlaces(values)
  const total = values.reduce((sofar, value) => sofar + scaleDecimalTruncated(value as Decimal, places), 0n)
  return formatDecimal(total, places)
}

function mostPlaces(values: readonly string[]): number {
  return Math.max(...values.map((value) => decimalPlaces(value as Decimal)))
}
