// Arithmetic that the language lacks for bigint.

/** Returns the smaller of two integers. */
export function min<Value extends bigint>(a: Value, b: Value): Value {
  return a < b ? a : b
}

/** Returns the larger of two integers. */
export function max<Value extends bigint>(a: Value, b: Value): Value {
  return a > b ? a : b
}

/** Returns the absolute value of an integer. */
export function abs(value: bigint): bigint {
  return value < 0n ? -value : value
}

// The functions below compute a x b / d without losing digits of the product. Their names state the rounding; a zero
// divisor throws a RangeError.

/** Multiplies and divides, rounding toward zero, as Solidity does for signed and unsigned numbers. */
export function mulDivTruncate(a: bigint, b: bigint, d: bigint): bigint {
  return (a * b) / d
}

/** Multiplies and divides, rounding toward minus infinity. */
export function mulDivFloor(a: bigint, b: bigint, d: bigint): bigint {
  const product = a * b
  const quotient = product / d
  const isRoundedUp = product % d !== 0n && product < 0n !== d < 0n
  return isRoundedUp ? quotient - 1n : quotient
}

/** Multiplies and divides, rounding toward plus infinity. */
export function mulDivCeil(a: bigint, b: bigint, d: bigint): bigint {
  return -mulDivFloor(-a, b, d)
}
