/** The number up to which commits are applied, whoever waits for one, and how old that knowledge is. */
export interface AppliedCommits {
  /** `undefined` before the beginning. */
  number(): number | undefined
  moveTo(number: number): void
  /**
   * Resolves with true once a commit is applied, and with false when that takes longer. Before the beginning nothing is
   * waited for.
   */
  reached(number: number, timeoutMs: number): Promise<boolean>
  /** Takes over that `number` was the last commit at `sentAtMs` or later, by `performance.now`. */
  seen(number: number, sentAtMs: number): void
  /** Begins anew: everything is as of now. */
  restart(number: number): void
  /** Returns the time since the last look that saw nothing beyond what is applied. */
  ageMs(): number
  /** Ends all waits. */
  close(): void
}

/** Looks that wait until the commits that they saw are applied. Further ones change nothing. */
const MAX_LOOKS = 50

interface Waiter {
  readonly number: number
  readonly end: (isReached: boolean) => void
}

export function createAppliedCommits(): AppliedCommits {
  const waiters = new Set<Waiter>()
  const looks: { readonly number: number; readonly sentAtMs: number }[] = []
  let applied: number | undefined
  let freshAtMs = performance.now()

  function moveTo(number: number): void {
    applied = number
    for (const waiter of waiters) if (waiter.number <= number) waiter.end(true)
    while (looks.length > 0 && looks[0]!.number <= number) freshAtMs = looks.shift()!.sentAtMs
  }

  return {
    number: () => applied,
    moveTo,
    async reached(number, timeoutMs) {
      if (applied === undefined || number <= applied) return true
      const { promise, resolve } = Promise.withResolvers<boolean>()
      const timer = setTimeout(() => end(false), timeoutMs)
      const waiter: Waiter = { number, end }
      waiters.add(waiter)
      function end(isReached: boolean): void {
        clearTimeout(timer)
        waiters.delete(waiter)
        resolve(isReached)
      }
      return promise
    },
    seen(number, sentAtMs) {
      if (looks.length < MAX_LOOKS) looks.push({ number, sentAtMs })
      if (applied !== undefined) moveTo(applied)
    },
    restart(number) {
      looks.length = 0
      freshAtMs = performance.now()
      moveTo(number)
    },
    ageMs: () => performance.now() - freshAtMs,
    close() {
      for (const { end } of waiters) end(false)
    },
  }
}
