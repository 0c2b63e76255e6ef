/** Prices of one answer, 1e10. A market order is answered by `current` alone, the others 0. */
export interface AnswerPrices {
  readonly open: bigint
  readonly high: bigint
  readonly low: bigint
  readonly current: bigint
}

const PRICE_BITS = 56n

/** The Diamond's OrderAnswer in one word, `open` in the lowest bits. */
export function packAnswer({ open, high, low, current }: AnswerPrices, timestampS: number): bigint {
  return [open, high, low, current, BigInt(timestampS)].reduceRight((word, field) => (word << PRICE_BITS) | field, 0n)
}
