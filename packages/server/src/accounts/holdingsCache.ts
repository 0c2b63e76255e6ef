import type { Address } from '@bezel/protocol'
import type { Holdings } from './readHoldings.ts'

/** What an account held when the chain was asked. Of two looks the one that was asked for later counts, whichever answer came first. */
export interface Look {
  /** Grows with every read of any account. */
  readonly order: number
  readonly holdings: Holdings
}

/** What accounts hold, as last read. */
export interface HoldingsCache {
  /** At most as old as the setting, and at once when it is there; `read` asks the chain. Requests that come together wait for one read. */
  get(trader: Address, read: () => Promise<Look>): Look | Promise<Look>
  /** A read that has just begun: who asks from now on waits for it. */
  put(trader: Address, reading: Promise<Look>): void
  /** Something happened to this account, so the next one reads again. */
  forget(trader: Address): void
}

interface Entry {
  readonly askedAtMs: number
  readonly reading: Promise<Look>
  /** What was read, once it is there. */
  look: Look | undefined
}

/** The oldest go first; an account beyond it is simply read again. */
const MAX_ACCOUNTS = 10_000

export function createHoldingsCache({ maxAgeMs, now }: { maxAgeMs: number; now: () => number }): HoldingsCache {
  const entries = new Map<Address, Entry>()

  function remove(trader: Address, entry: Entry): void {
    if (entries.get(trader) === entry) entries.delete(trader)
  }

  function put(trader: Address, reading: Promise<Look>): void {
    const entry: Entry = { askedAtMs: now(), reading, look: undefined }
    entries.delete(trader)
    entries.set(trader, entry)
    const [oldest] = entries.keys()
    if (entries.size > MAX_ACCOUNTS && oldest !== undefined) entries.delete(oldest)
    // Who waits for it gets the failure; who comes later asks again.
    reading.then(
      (look) => (entry.look = look),
      () => remove(trader, entry),
    )
  }

  return {
    put,
    get(trader, read) {
      const known = entries.get(trader)
      if (known !== undefined && now() - known.askedAtMs < maxAgeMs) return known.look ?? known.reading
      const reading = read()
      put(trader, reading)
      return reading
    },
    forget(trader) {
      entries.delete(trader)
    },
  }
}
