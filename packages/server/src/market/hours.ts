import { GROUP_SESSIONS, isOpenAt, nextOpeningMs, type MarketGroup } from '@bezel/protocol'
import { poll } from '../ground/poll.ts'

/** The opening hours of markets. */
export interface MarketHours {
  isOpen(market: { readonly pairIndex: number; readonly group: MarketGroup }): boolean
  /** Returns the time at which a closed market opens, in epoch ms; `null` when its trading hours do not tell. */
  opensAt(market: { readonly group: MarketGroup }): number | null
  /** Returns a counter that grows when a source's flags change. */
  version(): number
}

/** Flags of a source that knows what is open now, polled until they are closed. */
export interface OpenFlags<Key> {
  /** Returns true when it is open; `undefined` when the source says nothing about it or has not answered lately. */
  of(key: Key): boolean | undefined
  /** Returns a counter that grows when the flags change. */
  version(): number
  close(): void
}

export interface OpenFlagsOptions<Key> {
  /** Reads the flags; `undefined` where the source has none. */
  readonly read: () => Promise<ReadonlyMap<Key, boolean> | undefined>
  readonly now: () => number
  /** Pause between two reads. */
  readonly pollMs: number
}

export interface MarketHoursOptions {
  /** Flags of single pairs, by index. */
  readonly pairFlags: Omit<OpenFlags<number>, 'close'>
  /** Flags of whole groups, where the chain has a backend that gives them. */
  readonly groupFlags?: Omit<OpenFlags<MarketGroup>, 'close'> | undefined
  readonly now: () => number
}

/** Factor by which a source without flags is polled less often: it may get them, but hardly while the service runs. */
const POLLS_SKIPPED_WITHOUT_FLAGS = 30

/** The greatest age of flags. When they could not be read for longer, the trading hours decide. */
const FLAGS_MAX_AGE_MS = 60_000

/** Polls a source's flags until they are closed. */
export function watchOpenFlags<Key>({ read, now, pollMs }: OpenFlagsOptions<Key>): OpenFlags<Key> {
  let flags: ReadonlyMap<Key, boolean> = new Map()
  let readAtMs = Number.NEGATIVE_INFINITY
  let version = 0
  const polling = poll(readFlags)

  /** Reads the flags. Returns the pause until the next read in milliseconds. */
  async function readFlags(): Promise<number> {
    try {
      const found = await read()
      take(found ?? new Map())
      return found === undefined ? pollMs * POLLS_SKIPPED_WITHOUT_FLAGS : pollMs
    } catch {
      // The source does not answer: the last flags hold until they are too old.
      return pollMs
    }
  }

  function take(found: ReadonlyMap<Key, boolean>): void {
    const isSame = found.size === flags.size && [...found].every(([key, open]) => flags.get(key) === open)
    if (!isSame) version += 1
    flags = found
    readAtMs = now()
  }

  return {
    of: (key) => (now() - readAtMs <= FLAGS_MAX_AGE_MS ? flags.get(key) : undefined),
    version: () => version,
    close: polling.close,
  }
}

/** Decides by the flag of the pair, where there is none by the flag of its group, and otherwise by New York hours. */
export function createMarketHours({ pairFlags, groupFlags, now }: MarketHoursOptions): MarketHours {
  return {
    isOpen: ({ pairIndex, group }) =>
      pairFlags.of(pairIndex) ?? groupFlags?.of(group) ?? isOpenAt(GROUP_SESSIONS[group], now()),
    opensAt: ({ group }) => nextOpeningMs(group, now()),
    version: () => pairFlags.version() + (groupFlags?.version() ?? 0),
  }
}
