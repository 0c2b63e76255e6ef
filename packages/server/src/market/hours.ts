import { isOpenAt, type MarketGroup, type MarketSession } from '@bezel/protocol'
import type { FeedPages } from './feed/pages.ts'

/** Whether markets trade now. */
export interface MarketHours {
  isOpen(market: { readonly pairIndex: number; readonly group: MarketGroup }): boolean
  /** Grows when the upstream's flags change. */
  version(): number
  close(): void
}

export interface MarketHoursOptions {
  readonly pages: Pick<FeedPages, 'marketStatus'>
  readonly now: () => number
  /** Between two looks at the upstream's flags. */
  readonly pollMs: number
}

/** A feed without flags is asked this many times less often: it may get them, but hardly while we run. */
const POLLS_SKIPPED_WITHOUT_FLAGS = 30

/** Flags that could not be read again for this long say nothing any more; the hours do. */
const FLAGS_MAX_AGE_MS = 60_000

const SESSIONS: Readonly<Record<MarketGroup, MarketSession>> = {
  crypto: 'crypto',
  forex: 'forex',
  stocks: 'stocks',
  indices: 'stocks',
  commodities: 'commodities',
}

/** The upstream's own flag wins where it publishes one for the pair; else New York hours decide. Polls until it is closed. */
export function watchMarketHours({ pages, now, pollMs }: MarketHoursOptions): MarketHours {
  let flags: ReadonlyMap<number, boolean> = new Map()
  let readAtMs = Number.NEGATIVE_INFINITY
  let version = 0
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  void poll()

  async function poll(): Promise<void> {
    let waitMs = pollMs
    try {
      const found = await pages.marketStatus()
      if (found === undefined) waitMs *= POLLS_SKIPPED_WITHOUT_FLAGS
      take(found ?? new Map())
    } catch {
      // The feed is away: the last flags hold until they are too old.
    }
    if (!isClosed) timer = setTimeout(poll, waitMs)
  }

  function take(found: ReadonlyMap<number, boolean>): void {
    const isSame = found.size === flags.size && [...found].every(([pair, open]) => flags.get(pair) === open)
    if (!isSame) version += 1
    flags = found
    readAtMs = now()
  }

  return {
    isOpen({ pairIndex, group }) {
      const nowMs = now()
      const flag = nowMs - readAtMs <= FLAGS_MAX_AGE_MS ? flags.get(pairIndex) : undefined
      return flag ?? isOpenAt(SESSIONS[group], nowMs)
    },
    version: () => version,
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
