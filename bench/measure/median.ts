export function median(values: readonly number[]): number {
  return percentile(values, 0.5)
}

/** Returns the value below which this share of the values lies, from 0 to 1. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}
