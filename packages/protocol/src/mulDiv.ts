// a x b / d over integers without losing the product's digits. The rounding is in the name; a zero divisor throws a RangeError.

/** Rounds toward zero, as Solidity does for signed and unsigned numbers. */
export function mulDivTruncate(a: bigint, b: bigint, d: bigint): bigint {
  return (a * b) / d
}

/** Rounds toward minus infinity. */
export function mulDivFloor(a: bigint, b: bigint, d: bigint): bigint {
  const product = a * b
  const quotient = product / d
  const isRoundedUp = product % d !== 0n && product < 0n !== d < 0n
  return isRoundedUp ? quotient - 1n : quotient
}

/** Rounds toward plus infinity. */
export function mulDivCeil(a: bigint, b: bigint, d: bigint): bigint {
  return -mulDivFloor(-a, b, d)
}
