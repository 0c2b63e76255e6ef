/** A pair's prices, 1e10: the mark trades, the index liquidates. Times are this machine's. */
export interface PairQuote {
  readonly pairIndex: number
  readonly mark: bigint
  readonly index: bigint
  /** When this price was received, by tick or snapshot. */
  readonly updatedAtMs: number
  /** When the pair last ticked; `undefined` while only a snapshot has told its price. A snapshot is no sign of life of a market. */
  readonly tickedAtMs: number | undefined
}
