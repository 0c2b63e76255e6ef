import { isOpenAt, nextOpenMs, type MarketGroup, type MarketSession } from '@bezel/protocol'
import { poll } from '../ground/poll.ts'
import type { FeedPages } from './feed/pages.ts'

/** The opening hours of markets. */
export interface MarketHours {
  isOpen(market: { readonly pairIndex: number; readonly group: MarketGroup }): boolean
  /** Returns the time at which a closed market opens, in epoch ms; `null` when its trading hours do not tell. */
  opensAt(market: { readonly group: MarketGroup }): number | null
  /** Returns a counter that grows when the upstream's flags change. */
  version(): number
  close(): void
}

export interface MarketHoursOptions {
  readonly pages: Pick<FeedPages, 'marketStatus'>
  readonly now: () => number
  /** Pause between two reads of the upstream's flags. */
  readonly pollMs: number
}

/** Factor by which a feed without flags is polled less often: it may get them, but hardly while the service runs. */
const POLLS_SKIPPED_WITHOUT_FLAGS = 30

/** The greatest age of the flags. When they could not be read for longer, the trading hours decide. */
const FLAGS_MAX_AGE_MS = 60_000

const SESSIONS: Readonly<Record<MarketGroup, MarketSession>> = {
  crypto: 'crypto',
  forex: 'forex',
  stocks: 'stocks',
  indices: 'stocks',
  commodities: 'commodities',
}

/**
 * Polls the upstream's flags until it is closed. The flag of a pair wins where there is one; otherwise New York hours
 * decide.
 */
export function watchMarketHours({ pages, now, pollMs }: MarketHoursOptions): MarketHours {
  let flags: ReadonlyMap<number, boolean> = new Map()
  let readAtMs = Number.NEGATIVE_INFINITY
  let version = 0
  const polling = poll(readFlags)

  /** Reads the flags. Returns the pause until the next read in milliseconds. */
  async function readFlags(): Promise<number> {
    try {
      const found = await pages.marketStatus()
      take(found ?? new Map())
      return found === undefined ? pollMs * POLLS_SKIPPED_WITHOUT_FLAGS : pollMs
    } catch {
      // The feed does not answer: the last flags hold until they are too old.
      return pollMs
    }
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
    opensAt({ group }) {
      const nowMs = now()
      const opensAtMs = nextOpenMs(SESSIONS[group], nowMs)
      // Within its hours only the upstream's flag has closed it, and nobody says until when.
      return opensAtMs === undefined || opensAtMs === nowMs ? null : opensAtMs
    },
    version: () => version,
    close: polling.close,
  }
}
