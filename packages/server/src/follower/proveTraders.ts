import type { Address, ChainSlug } from '@bezel/protocol'
import { creationOfRequest } from '../chain/creation.ts'
import { createBreaks } from '../ground/breaks.ts'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { ChainHead } from '../journal/clock.ts'
import type { FollowedBlock } from '../store/blockStore.ts'
import { listLiveOrders } from '../store/orderStore.ts'
import { listOpenPositionsOf, listUpdateIndices } from '../store/positionStore.ts'
import {
  addUnproven,
  deleteUnproven,
  listActiveTraders,
  listFoundTraders,
  listUnproven,
} from '../store/snapshotStore.ts'
import type { Sql } from '../store/sql.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { updateKindOf } from './applyUpdate.ts'
import { createBlockScope } from './blockScope.ts'
import { adoptTraders, endMissed } from './adoptTraders.ts'
import { disagreementOf, type FoundTrader, type OpenCounts, type PendingOrder } from './foundTraders.ts'
import { createDiamondNode, readOpenCounts, readTraderListPart, readTraders, type DiamondNode } from './readTraders.ts'
import type { SnapshotOptions } from './takeSnapshot.ts'

/** Proves by the Diamond's counters that everything which is open on the chain is known, trader by trader. */
export interface Proofs {
  /** Loads the unproven traders. Called before anything else. */
  open(): Promise<void>
  isUnproven(trader: Address): boolean
  /** Called before blocks are undone: a trader of whom something was found as of one of them is unproven again. */
  doubt(undone: readonly FollowedBlock[]): Promise<void>
  /** Returns the number of unproven traders. */
  unprovenTraders(): number
  /**
   * Reads the unproven traders again and, at intervals, checks the counters of some others. Called between two steps of
   * the follower, so that the store is at the followed block all the while. A node that does not answer is asked again
   * by the next look.
   */
  look(markets: ChainMarkets): Promise<void>
}

export interface ProofsOptions extends SnapshotOptions {
  readonly head: Pick<ChainHead, 'current'>
}

/** Minimum interval between two looks at the list of unproven traders, to which the operator adds as well. */
const LOOK_MS = 1_000

/**
 * Maximum delay before an unproven trader is read again. It begins with that between two looks and doubles with each
 * read, because some are not proven before somebody reads the missed blocks again.
 */
const MAX_DELAY_MS = 60_000

/** Interval between two parts of the round over all traders who have something open. */
const ROUND_MS = 30_000

/** Number of known traders in one part of the round: with those of the list, one call of Multicall3 has all. */
const KNOWN_PER_PART = 300

/** Number of unproven traders that one look reads again. */
const TRADERS_PER_PART = 100

/** Number of entries of the Diamond's list of traders in one part of the round. Most have nothing open. */
const ENTRIES_PER_PART = 500

export function createProofs(options: ProofsOptions): Proofs {
  const { chain, head, store, accountLog, now } = options
  const node = createDiamondNode({ client: options.client, diamond: chain.diamond })
  const round = createCounterRound(options, node)
  let unproven: ReadonlySet<Address> = new Set()
  const retries = createRetries()
  let [lookedAtMs, checkedAtMs] = [now(), now()]
  let dueAtOnce = TRADERS_PER_PART

  async function load(): Promise<void> {
    unproven = new Set((await listUnproven(store.read, chain.slug)).map(({ trader }) => trader))
  }

  /** Reads traders again, stores what was missed, and notes who is proven by it. */
  async function reread(traders: readonly Address[], block: FollowedBlock, markets: ChainMarkets): Promise<void> {
    const found = await readTraders(node, block, traders)
    for (const trader of found) await keepRead(options, trader, block, markets)
    if (found.length > 0) await load()
  }

  /** Reads the unproven traders who are due. One who can't be read must not keep the others from being proven. */
  async function rereadDue(nowMs: number, block: FollowedBlock, markets: ChainMarkets): Promise<void> {
    const due = retries.takeDue(unproven, nowMs, dueAtOnce)
    dueAtOnce = Math.max(1, Math.floor(due.length / 2))
    await reread(due, block, markets)
    dueAtOnce = TRADERS_PER_PART
  }

  async function mark(traders: Iterable<Address>, reason: string): Promise<void> {
    await accountLog.transaction({ chain: chain.slug }, { block: null, isReorg: false }, async (sql) => {
      for (const trader of traders) await addUnproven(sql, chain.slug, { trader, reason })
    })
    await load()
  }

  /** Reads those of the next traders again whose counters differ. Following waits for it, so very many wait. */
  async function checkNext(block: FollowedBlock, markets: ChainMarkets): Promise<void> {
    const differing = await round.next(block)
    const reason = 'the counters on the chain differ from what is known'
    const later = differing.slice(TRADERS_PER_PART)
    if (later.length > 0) await mark(later, reason)
    try {
      await reread(differing.slice(0, TRADERS_PER_PART), block, markets)
    } catch (error) {
      // They may have more than is known, and the round comes back to them late.
      await mark(differing, reason)
      throw error
    }
  }

  return {
    open: load,
    isUnproven: (trader) => unproven.has(trader),
    async doubt(undone) {
      const found = new Set<Address>()
      for (const { hash } of undone) {
        for (const trader of await listFoundTraders(store.read, chain.slug, hash)) found.add(trader)
      }
      if (found.size > 0) await mark(found, 'the block was undone at which it was read')
    },
    unprovenTraders: () => unproven.size,
    async look(markets) {
      const [block, nowMs] = [head.current(), now()]
      if (block === undefined || nowMs - lookedAtMs < LOOK_MS) return
      lookedAtMs = nowMs
      await load()
      try {
        await rereadDue(nowMs, block, markets)
        if (nowMs - checkedAtMs < ROUND_MS) return
        checkedAtMs = nowMs
        await checkNext(block, markets)
      } catch (error) {
        if (!(error instanceof NodeUnavailableError)) throw error
      }
    },
  }
}

/** Stores what was missed of a trader who was read again, and notes whether the trader is proven by it. */
async function keepRead(
  { chain: { slug }, accountLog, timeoutBlocks }: ProofsOptions,
  found: FoundTrader,
  block: FollowedBlock,
  markets: ChainMarkets,
): Promise<void> {
  const { trader } = found
  const incomplete = disagreementOf(found)
  await accountLog.transaction(
    { chain: slug, trader },
    { block: block.number, isReorg: false },
    async (sql, journal, { nowMs }) => {
      if (incomplete === undefined) {
        const scope = createBlockScope({ sql, chain: slug, block, markets, renewed: new Map(), journal })
        await adoptTraders(scope, [found])
        await endMissed(scope, found)
        const { number: headBlock, timestampMs: headMs } = block
        await scope.settle({ nowMs, headBlock, headMs, timeoutBlocks: timeoutBlocks() })
      }
      const reason = incomplete ?? (await readDifference(sql, slug, found))
      if (reason === undefined) await deleteUnproven(sql, slug, trader)
      else await addUnproven(sql, slug, { trader, reason })
    },
  )
}

/** A round over all traders, part by part: those who have something open here, and those of the Diamond's own list. */
interface CounterRound {
  /** Compares the counters of the next traders with what is known of them, and returns those who differ. */
  next(block: FollowedBlock): Promise<Address[]>
}

function createCounterRound({ chain, store }: ProofsOptions, node: DiamondNode): CounterRound {
  let lastChecked = ''
  let nextEntry = 0
  /** Number of entries in the Diamond's list, as of the last part. */
  let entries = 0

  async function readListed(block: FollowedBlock): Promise<readonly Address[]> {
    if (entries === 0) entries = (await readTraderListPart(node, block, { from: 0, to: -1 })).listed
    const part = { from: nextEntry, to: Math.min(entries, nextEntry + ENTRIES_PER_PART) - 1 }
    const { traders, listed } = await readTraderListPart(node, block, part)
    entries = listed
    nextEntry = part.to + 1 < listed ? Math.max(0, part.to + 1) : 0
    return traders
  }

  return {
    async next(block) {
      const known = await listActiveTraders(store.read, chain.slug, { after: lastChecked, limit: KNOWN_PER_PART })
      const listed = await readListed(block)
      lastChecked = known.length < KNOWN_PER_PART ? '' : known.at(-1)!
      const traders = [...new Set([...known, ...listed])]
      if (traders.length === 0) return []
      const differing: Address[] = []
      const takeBreak = createBreaks()
      for (const [trader, counts] of await readOpenCounts(node, block, traders)) {
        await takeBreak()
        if (!isCounted(await readKnown(store.read, chain.slug, trader), counts)) differing.push(trader)
      }
      return differing
    },
  }
}

/** The times at which unproven traders are read again. */
interface Retries {
  /**
   * Returns up to `limit` traders to read now, and notes when each of them is due after that. Forgets all who are
   * proven.
   */
  takeDue(unproven: ReadonlySet<Address>, nowMs: number, limit: number): Address[]
}

function createRetries(): Retries {
  const retries = new Map<Address, { readonly dueAtMs: number; readonly delayMs: number }>()
  return {
    takeDue(unproven, nowMs, limit) {
      for (const trader of retries.keys()) if (!unproven.has(trader)) retries.delete(trader)
      const due = [...unproven].filter((trader) => (retries.get(trader)?.dueAtMs ?? 0) <= nowMs)
      const taken = due.slice(0, limit)
      for (const trader of taken) {
        const delayMs = Math.min(MAX_DELAY_MS, 2 * (retries.get(trader)?.delayMs ?? LOOK_MS / 2))
        retries.set(trader, { dueAtMs: nowMs + delayMs, delayMs })
      }
      return taken
    },
  }
}

/** The indices of a trader's open trades and requests. */
interface OpenIndices {
  readonly trades: ReadonlySet<number>
  readonly requests: ReadonlySet<number>
}

/** Reads what is known to be open of a trader. A request may be an order, a change of a position, or both. */
async function readKnown(sql: Sql, chain: ChainSlug, trader: Address): Promise<OpenIndices> {
  const positions = (await listOpenPositionsOf(sql, chain, trader)).flatMap(({ state }) => state?.trade.index ?? [])
  const orders = (await listLiveOrders(sql, chain, trader)).flatMap(({ state }) => state ?? [])
  const resting = orders.flatMap(({ tradeIndex }) => tradeIndex ?? [])
  const updates = await listUpdateIndices(sql, chain, trader)
  return {
    trades: new Set([...positions, ...resting]),
    requests: new Set([...updates, ...orders.flatMap(({ unanswered }) => unanswered)]),
  }
}

function isCounted({ trades, requests }: OpenIndices, counts: OpenCounts): boolean {
  return trades.size === counts.trades && requests.size === counts.requests
}

/** Returns what differs between the store and what was found of a trader; `undefined` when nothing does. */
async function readDifference(sql: Sql, chain: ChainSlug, found: FoundTrader): Promise<string | undefined> {
  const known = await readKnown(sql, chain, found.trader)
  const trades = new Set([...found.positions, ...found.resting].map(({ trade }) => trade.index))
  const requests = new Set(found.requests.filter(isShown).map(({ index }) => index))
  const [trade] = known.trades.symmetricDifference(trades)
  if (trade !== undefined) return `trade ${trade} is not known as it is on the chain`
  const [request] = known.requests.symmetricDifference(requests)
  if (request !== undefined) return `request ${request} was made or answered in a block that was not followed`
  return undefined
}

/** Returns true for a request that an order or a position shows, false for the trigger of a bot. */
function isShown(pendingOrder: PendingOrder): boolean {
  const isOrder = creationOfRequest({ name: 'PendingOrderStored', args: { pendingOrder } }) !== undefined
  return isOrder || updateKindOf(pendingOrder.orderType) !== undefined
}
