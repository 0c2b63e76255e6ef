import type { Address } from '@bezel/protocol'
import type { Holdings } from './readHoldings.ts'

/** What accounts hold, as last read. */
export interface HoldingsCache {
  /** At most as old as the setting; `read` asks the chain. Requests that come together wait for one read. */
  get(trader: Address, read: () => Promise<Holdings>): Promise<Holdings>
  /** Something happened to this account, so the next one reads again. */
  forget(trader: Address): void
}

interface Entry {
  readonly askedAtMs: number
  readonly holdings: Promise<Holdings>
}

/** The oldest go first; an account beyond it is simply read again. */
const MAX_ACCOUNTS = 10_000

export function createHoldingsCache({ maxAgeMs, now }: { maxAgeMs: number; now: () => number }): HoldingsCache {
  const entries = new Map<Address, Entry>()

  function remove(trader: Address, entry: Entry): void {
    if (entries.get(trader) === entry) entries.delete(trader)
  }

  return {
    async get(trader, read) {
      const known = entries.get(trader)
      if (known !== undefined && now() - known.askedAtMs < maxAgeMs) return known.holdings
      const entry: Entry = { askedAtMs: now(), holdings: read() }
      entries.delete(trader)
      entries.set(trader, entry)
      const [oldest] = entries.keys()
      if (entries.size > MAX_ACCOUNTS && oldest !== undefined) entries.delete(oldest)
      // Who waits for it gets the failure; who comes later asks again.
      entry.holdings.catch(() => remove(trader, entry))
      return entry.holdings
    },
    forget(trader) {
      entries.delete(trader)
    },
  }
}
