/**
 * The most of something that a provider takes in one question, such as calls of a batch: a setting, or learnt from what
 * it refused.
 */
export interface LearntLimit {
  current(): number
  /** Notes that so much was refused because it was too much. */
  refused(size: number): void
}

export interface LearntLimitOptions {
  /** The limit while nothing was refused. */
  readonly max: number
  readonly now: () => number
}

/** Time after which more is tried again: a provider's plan may have changed, or the refusal was a mistake. */
const TRY_AGAIN_MS = 10 * 60_000

/** Known limits of providers, below the refused size: the first guess is mostly right. */
const USUAL = [100, 50, 20, 10, 5, 3, 1]

export function createLearntLimit({ max, now }: LearntLimitOptions): LearntLimit {
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
