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
import { restingTerms } from '../trading/orders/foldOrder.ts'
import { updateKindOf } from './applyUpdate.ts'
import { createBlockScope } from './blockScope.ts'
import { adoptTraders, endMissed } from './adoptTraders.ts'
import {
  disagreementOf,
  isPosition,
  type FoundTrade,
  type FoundTrader,
  type OpenCounts,
  type PendingOrder,
} from './foundTraders.ts'
import {
  createDiamondNode,
  readListedTrades,
  readOpenCounts,
  readTraderListPart,
  readTraders,
  type DiamondNode,
} from './readTraders.ts'
import type { SnapshotOptions } from './takeSnapshot.ts'

/** Proves by the Diamond's counters and lists that everything which is open on the chain is known, trader by trader. */
export interface Proofs {
  /** Loads the unproven traders. Called before anything else. */
  open(): Promise<void>
  isUnproven(trader: Address): boolean
  /** Called before blocks are undone: a trader of whom something was found as of one of them is unproven again. */
  doubt(undone: readonly FollowedBlock[]): Promise<void>
  /** Returns the number of unproven traders. */
  unprovenTraders(): number
  /**
   * Reads the unproven traders again and, at intervals, checks the counters and trades of some others. Called between
   * two steps of the follower, so that the store is at the followed block all the while. A node that does not answer
   * is asked again by the next look.
   */
  look(markets: ChainMarkets): Promise<void>
}

export interface ProofsOptions extends SnapshotOptions {
  readonly head: Pick<ChainHead, 'current'>
  /**
   * Returns the number of signs so far that the contracts may tell of trades in another way. After each one the trades
   * of all traders are compared with the chain. Default: there are none.
   */
  readonly signsOfChange?: () => number
  /** Called with a trader of whom a round found that something is not known as on the chain. Default: nothing. */
  readonly onDifferent?: Tell
}

type Tell = (trader: Address, difference: string) => void

/** Minimum interval between two looks at the list of unproven traders, to which the operator adds as well. */
const LOOK_MS = 1_000

/**
 * Maximum delay before an unproven trader is read again. It begins with that between two looks and doubles with each
 * read, because some are not proven before somebody reads the missed blocks again.
 */
const MAX_DELAY_MS = 60_000

/** Interval between two parts of the round over all traders who have something open. */
const ROUND_MS = 30_000

/** Number of parts of the round of which one compares trades as well, so that this costs few calls. */
const PARTS_PER_COMPARISON = 10

/** Number of known traders in one part of the round: with those of the list, one call of Multicall3 has all. */
const KNOWN_PER_PART = 300

/** Number of unproven traders that one look reads again. */
const TRADERS_PER_PART = 100

/** Number of entries of the Diamond's list of traders in one part of the round. Most have nothing open. */
const ENTRIES_PER_PART = 500

export function createProofs(options: ProofsOptions): Proofs {
  const { chain, head, store, accountLog, now, onDifferent = () => {} } = options
  const node = createDiamondNode({ client: options.client, diamond: chain.diamond })
  const rounds = [createCounterRound(options, node), createTradeRound(options, node)]
  let unproven: ReadonlySet<Address> = new Set()
  const retries = createRetries()
  let [lookedAtMs, checkedAtMs] = [now(), now()]
  let dueAtOnce = TRADERS_PER_PART

  async function load(): Promise<void> {
    unproven = new Set((await listUnproven(store.read, chain.slug)).map(({ trader }) => trader))
  }

  /** Reads traders again, stores what was missed, and notes who is proven by it. Tells of those who differed. */
  async function reread(traders: Address[], block: FollowedBlock, markets: ChainMarkets, tell?: Tell): Promise<void> {
    const read = await readTraders(node, block, traders)
    for (const found of read) {
      const difference = await keepRead(options, found, block, markets)
      if (difference !== undefined) tell?.(found.trader, difference)
    }
    if (read.length > 0) await load()
  }

  /** Reads the unproven traders who are due. One who can't be read must not keep the others from being proven. */
  async function rereadDue(nowMs: number, block: FollowedBlock, markets: ChainMarkets): Promise<void> {
    const due = retries.takeDue(unproven, nowMs, dueAtOnce)
    dueAtOnce = Math.max(1, Math.floor(due.length / 2))
    await reread(due, block, markets)
    dueAtOnce = TRADERS_PER_PART
  }

  async function mark(differing: readonly (readonly [Address, string])[]): Promise<void> {
    if (differing.length === 0) return
    await accountLog.transaction({ chain: chain.slug }, { block: null, isReorg: false }, async (sql) => {
      for (const [trader, reason] of differing) await addUnproven(sql, chain.slug, { trader, reason })
    })
    await load()
  }

  /** Reads those of the next traders again who differ. Following waits for it, so very many are left to later looks. */
  async function checkNext(round: Round, block: FollowedBlock, markets: ChainMarkets): Promise<void> {
    const differing = await round.next(block)
    if (round.isSure) for (const [trader, difference] of differing) onDifferent(trader, difference)
    await mark([...differing].slice(TRADERS_PER_PART))
    try {
      const first = [...differing.keys()].slice(0, TRADERS_PER_PART)
      await reread(first, block, markets, round.isSure ? undefined : onDifferent)
    } catch (error) {
      // They may have more than is known, and the round comes back to them late.
      await mark([...differing])
      throw error
    }
  }

  return {
    open: load,
    isUnproven: (trader) => unproven.has(trader),
    doubt: async (undone) => mark(await listDoubted(store.read, chain.slug, undone)),
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
        for (const round of rounds) await checkNext(round, block, markets)
      } catch (error) {
        if (!(error instanceof NodeUnavailableError)) throw error
      }
    },
  }
}

/** Lists the traders of whom something was found as of one of these blocks, with the reason to doubt them. */
async function listDoubted(sql: Sql, chain: ChainSlug, undone: readonly FollowedBlock[]): Promise<[Address, string][]> {
  const doubted = new Set<Address>()
  for (const { hash } of undone) for (const trader of await listFoundTraders(sql, chain, hash)) doubted.add(trader)
  return [...doubted].map((trader) => [trader, 'the block was undone at which it was read'])
}

/**
 * Stores what was missed of a trader who was read again, and notes whether the trader is proven by it. Returns what was
 * not known before as it is on the chain; `undefined` when all was.
 */
async function keepRead(
  { chain: { slug }, accountLog, timeoutBlocks }: ProofsOptions,
  found: FoundTrader,
  block: FollowedBlock,
  markets: ChainMarkets,
): Promise<string | undefined> {
  const { trader } = found
  const incomplete = disagreementOf(found)
  return accountLog.transaction(
    { chain: slug, trader },
    { block: block.number, isReorg: false },
    async (sql, journal, { nowMs }) => {
      const before = incomplete ?? (await readDifference(sql, slug, found))
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
      return before
    },
  )
}

/** A round over traders, part by part. */
interface Round {
  /** False when one who differs may still be known: the counters also count triggers of bots, which no order shows. */
  readonly isSure: boolean
  /** Compares the next traders with what is known of them. Returns those who differ, each with the difference. */
  next(block: FollowedBlock): Promise<ReadonlyMap<Address, string>>
}

/** Creates the round of counters, over those who have something open here and those of the Diamond's own list. */
function createCounterRound({ chain, store }: ProofsOptions, node: DiamondNode): Round {
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
    isSure: false,
    async next(block) {
      const known = await listActiveTraders(store.read, chain.slug, { after: lastChecked, limit: KNOWN_PER_PART })
      const listed = await readListed(block)
      lastChecked = known.length < KNOWN_PER_PART ? '' : known.at(-1)!
      const traders = [...new Set([...known, ...listed])]
      const differing = new Map<Address, string>()
      if (traders.length === 0) return differing
      const takeBreak = createBreaks()
      for (const [trader, counts] of await readOpenCounts(node, block, traders)) {
        await takeBreak()
        if (isCounted(await readKnown(store.read, chain.slug, trader), counts)) continue
        differing.set(trader, 'the counters on the chain differ from what is known')
      }
      return differing
    },
  }
}

/**
 * Creates the round of trades, over those who have something open here: the counters of a trader agree also when an
 * event of a new layout changed a trade without being understood. Goes on with each part after a sign of such a change,
 * until everybody was compared.
 */
function createTradeRound({ chain, store, signsOfChange = () => 0 }: ProofsOptions, node: DiamondNode): Round {
  let lastCompared = ''
  let parts = 0
  let signs = 0
  let isUrgent = false

  function isDue(): boolean {
    parts += 1
    if (signsOfChange() > signs) {
      signs = signsOfChange()
      lastCompared = ''
      isUrgent = true
    }
    return isUrgent || parts % PARTS_PER_COMPARISON === 0
  }

  return {
    isSure: true,
    async next(block) {
      const differing = new Map<Address, string>()
      if (!isDue()) return differing
      const limit = TRADERS_PER_PART
      const [first, ...others] = await listActiveTraders(store.read, chain.slug, { after: lastCompared, limit })
      if (first === undefined) {
        lastCompared = ''
        isUrgent = false
        return differing
      }
      // A group that can't be read must not keep all after it from being compared.
      lastCompared = first
      const { trades, last } = await readListedTrades(node, block, [first, ...others])
      for (const [trader, found] of Map.groupBy(trades, ({ trade }) => trade.user as Address)) {
        const { trades: known } = await readKnown(store.read, chain.slug, trader)
        const difference = tradesDifference(known, found)
        if (difference !== undefined) differing.set(trader, difference)
      }
      lastCompared = last
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

/** The open trades and requests that are known of a trader. */
interface KnownOpen {
  /** Open trades by their index: a position as the chain keeps it, a resting order by its terms. */
  readonly trades: ReadonlyMap<number, object>
  /** Indices of the open requests. */
  readonly requests: ReadonlySet<number>
}

/** Reads what is known to be open of a trader. A request may be an order, a change of a position, or both. */
async function readKnown(sql: Sql, chain: ChainSlug, trader: Address): Promise<KnownOpen> {
  const positions = (await listOpenPositionsOf(sql, chain, trader)).flatMap(({ state }) => state?.trade ?? [])
  const orders = (await listLiveOrders(sql, chain, trader)).flatMap(({ state }) => state ?? [])
  const resting = orders.flatMap(({ tradeIndex, price, sl, tp, slippage }) =>
    tradeIndex === null ? [] : ([[tradeIndex, { price, sl, tp, slippage }]] as const),
  )
  const updates = await listUpdateIndices(sql, chain, trader)
  return {
    trades: new Map<number, object>([...positions.map((trade) => [trade.index, trade] as const), ...resting]),
    requests: new Set([...updates, ...orders.flatMap(({ unanswered }) => unanswered)]),
  }
}

function isCounted({ trades, requests }: KnownOpen, counts: OpenCounts): boolean {
  return trades.size === counts.trades && requests.size === counts.requests
}

/** Returns what differs between the store and what was found of a trader; `undefined` when nothing does. */
async function readDifference(sql: Sql, chain: ChainSlug, found: FoundTrader): Promise<string | undefined> {
  const known = await readKnown(sql, chain, found.trader)
  const difference = tradesDifference(known.trades, [...found.positions, ...found.resting])
  if (difference !== undefined) return difference
  const requests = new Set(found.requests.filter(isShown).map(({ index }) => index))
  const [request] = known.requests.symmetricDifference(requests)
  if (request !== undefined) return `request ${request} was made or answered in a block that was not followed`
  return undefined
}

/** Returns what differs between the known and the found trades of a trader; `undefined` when nothing does. */
function tradesDifference(known: KnownOpen['trades'], found: readonly FoundTrade[]): string | undefined {
  const trades = new Map(found.map((one) => [one.trade.index, one]))
  const [missing] = new Set(known.keys()).symmetricDifference(trades)
  if (missing !== undefined) return `trade ${missing} is not known as it is on the chain`
  for (const [index, one] of trades) {
    const values = new Map<string, unknown>(Object.entries(known.get(index)!))
    const differing = Object.entries(shownOf(one)).find(([field, value]) => values.get(field) !== value)
    if (differing !== undefined) return `the ${differing[0]} of trade ${index} is not known as it is on the chain`
  }
  return undefined
}

/** Returns what is known of a trade that is known as it is on the chain. */
function shownOf(found: FoundTrade): object {
  const { openPrice: price, sl, tp } = found.trade
  return isPosition(found) ? found.trade : restingTerms({ price, sl, tp, slippageP: found.maxSlippageP })
}

/** Returns true for a request that an order or a position shows, false for the trigger of a bot. */
function isShown(pendingOrder: PendingOrder): boolean {
  const isOrder = creationOfRequest({ name: 'PendingOrderStored', args: { pendingOrder } }) !== undefined
  return isOrder || updateKindOf(pendingOrder.orderType) !== undefined
}
