import { setImmediate as nextTick } from 'node:timers/promises'
import { BaseSize, type Address, type ChainSlug, type Decimal } from '@bezel/protocol'
import { INFO_PAGE, UNMETERED, type RowMeter } from '../access/weights.ts'
import { createLru } from '../ground/lru.ts'
import { isTrade } from '../market/recentTrades.ts'
import { listTraderFills, type FillCursor, type TraderFill } from '../store/fillStore.ts'
import type { Store } from '../store/sql.ts'
import { sideOfFill } from './facadeOrder.ts'

/** An entry of a trader's history, as far as it decides which entries answer a request. */
export interface TapeEntry extends FillCursor {
  readonly id: number
  readonly timeMs: number
  readonly pairIndex: number
  /** Signed size that it traded; zero when it is no execution. */
  readonly size: BaseSize
  /** True for an execution, which is a fill; false for a change of leverage and a refusal, which trade nothing. */
  readonly isFill: boolean
  /** True when it realised holding fees. */
  readonly hasFees: boolean
  /** True when it may have cost something that neither its fill nor its holding fees tell. */
  readonly hasRest: boolean
}

/** The histories of traders in memory, so that a request reads only those rows of the store that it answers. */
export interface FillTapes {
  /**
   * Returns the last entries of a trader as of this call, oldest first. What has to be read for that is charged to the
   * meter, a unit for each page after the first. Throws `RATE_LIMITED`.
   */
  of(trader: Address, meter?: RowMeter): Promise<readonly TapeEntry[]>
}

/** Largest number of entries of one trader. Hyperliquid gives access to the last 10,000 too. */
const MAX_ENTRIES = 10_000

/** Entries in memory, about 40 MB; the traders that were asked for least recently are dropped first. */
const MAX_KEPT = 300_000

/** Rows of one read. Others get their turn between two reads. */
const PAGE = 500

/** Creates empty tapes. */
export function createFillTapes(store: Pick<Store, 'read'>, chain: ChainSlug): FillTapes {
  const tapes = createLru<Address, readonly TapeEntry[]>(MAX_KEPT, (entries) => entries.length + 1)
  /** The last renewal of each trader that is under way. A later one begins after it. */
  const renewals = new Map<Address, Promise<readonly TapeEntry[]>>()

  async function renew(trader: Address, meter: RowMeter): Promise<readonly TapeEntry[]> {
    const known = tapes.get(trader) ?? []
    const renewed = await readOn(known, async (cursor, limit) => {
      if (cursor !== undefined && limit === PAGE) await meter.add(INFO_PAGE)
      return listTraderFills(store.read, { chain, trader, cursor, limit })
    })
    if (renewed !== known) tapes.set(trader, renewed)
    return renewed
  }

  return {
    of(trader, meter = UNMETERED) {
      const earlier = renewals.get(trader)
      const renewal =
        earlier === undefined
          ? renew(trader, meter)
          : earlier.then(
              () => renew(trader, meter),
              () => renew(trader, meter),
            )
      renewals.set(trader, renewal)
      const forget = (): void => void (renewals.get(trader) === renewal && renewals.delete(trader))
      renewal.then(forget, forget)
      return renewal
    },
  }
}

type ReadPage = (cursor: FillCursor | undefined, limit: number) => Promise<readonly TraderFill[]>

/**
 * Returns a tape with what happened since. Reads from the newest entry back to the first one that is known; known ones
 * that are newer than that were undone with their blocks.
 */
async function readOn(known: readonly TapeEntry[], read: ReadPage): Promise<readonly TapeEntry[]> {
  const fresh: TapeEntry[] = []
  let kept = known.length
  let page = await read(undefined, known.length === 0 ? PAGE : 1)
  for (let limit = known.length === 0 ? PAGE : 1; ; limit = PAGE) {
    for (const row of page) {
      while (kept > 0 && !isBefore(known[kept - 1]!, row.cursor)) {
        if (known[kept - 1]!.id === row.fill.id) return joined(known, kept, fresh)
        kept -= 1
      }
      fresh.push(tapeEntry(row))
    }
    if (page.length < limit || fresh.length >= MAX_ENTRIES) return joined(known, page.length < limit ? 0 : kept, fresh)
    await nextTick()
    page = await read(page.at(-1)!.cursor, PAGE)
  }
}

function joined(known: readonly TapeEntry[], kept: number, fresh: readonly TapeEntry[]): readonly TapeEntry[] {
  if (fresh.length === 0 && kept === known.length) return known
  return [...known.slice(0, kept), ...fresh.toReversed()].slice(-MAX_ENTRIES)
}

function isBefore(entry: FillCursor, { blockNumber, logIndex }: FillCursor): boolean {
  return entry.blockNumber < blockNumber || (entry.blockNumber === blockNumber && entry.logIndex < logIndex)
}

function tapeEntry({ fill, pairIndex, cursor }: TraderFill): TapeEntry {
  const isFill = isTrade(fill)
  const size = isFill ? BaseSize.parseTruncated(fill.size as Decimal) : BaseSize.zero
  const { fundingFee, borrowingFee, forfeited, netPnl } = fill
  return {
    ...cursor,
    id: fill.id,
    timeMs: fill.timestamp,
    pairIndex,
    size: sideOfFill(fill) === 'B' ? size : BaseSize.of(-size),
    isFill,
    hasFees: isAmount(fundingFee) || isAmount(borrowingFee),
    // The netPnl of an execution is its profit less its fees and what it forfeited.
    hasRest: netPnl !== null && (!isFill || isAmount(forfeited)),
  }
}

/** True for an amount that is known and not zero. */
function isAmount(text: string | null): boolean {
  return text !== null && text !== '0'
}
