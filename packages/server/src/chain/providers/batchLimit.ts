/** The number of calls that one provider takes in a batch: a setting, or learnt from what it refused. */
export interface BatchLimit {
  current(): number
  /** Notes that a batch of this size was refused because of its size. */
  refused(size: number): void
}

export interface BatchLimitOptions {
  /** The most calls of a batch. */
  readonly max: number
  readonly now: () => number
}

/** Time after which a larger batch is tried again: a provider's plan may have changed, or the refusal was a mistake. */
const TRY_AGAIN_MS = 10 * 60_000

/** Known limits of providers, below the refused size: the first guess is mostly right. */
const USUAL = [100, 50, 20, 10, 5, 3, 1]

export function createBatchLimit({ max, now }: BatchLimitOptions): BatchLimit {
  let limit = max
  let sinceMs = now()

  return {
    current() {
      if (limit < max && now() - sinceMs >= TRY_AGAIN_MS) {
        limit = Math.min(max, USUAL.findLast((usual) => usual > limit) ?? max)
        sinceMs = now()
      }
      return limit
    },
    refused(size) {
      const below = USUAL.find((usual) => usual < size) ?? 1
      limit = Math.min(limit, below)
      sinceMs = now()
    },
  }
}
