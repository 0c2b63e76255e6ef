import { zeroAddress } from 'viem'
import { NodeUnavailableError, notReady } from '../ground/unavailable.ts'
import type { Address, Account, AgentScope } from '@bezel/protocol'
import { type ChainAgents, agentAnswer } from '../agents/chainAgents.ts'
import type { ListedCollateral } from '../trading/market/chainMarkets.ts'
import type { AccountLog, BlockRange } from '../journal/accountLog.ts'
import { createAccountTeller } from './accountTeller.ts'
import type { LivePositions } from './positions/livePositions.ts'
import {
  firstBatch,
  readAccounts,
  readOwnTerms,
  UnreadableAccountError,
  type AskedAccount,
  type Holdings,
} from './readHoldings.ts'
import { createDueTerms } from './positions/dueTerms.ts'
import type { KnownTerms, TradedPair } from './positions/traderTerms.ts'
import { isExpired, type AgentRecord } from '../trading/agentRecord.ts'
import { createLru } from '../ground/lru.ts'

/**
 * The holdings of an account, as the chain answered one read. Of two reads the one that was sent later counts,
 * whichever answer came first.
 */
interface Look {
  /** Sequence number of the read. Grows with every read of any account of the chain. */
  readonly order: number
  readonly holdings: Holdings
  /** The blocks that the answer may be of; `undefined` where nobody asks. */
  readonly blocks: BlockRange | undefined
}

/**
 * Reads the accounts of one chain. Everything found by `text` and `refresh` is written to the trader's log before it is
 * shown.
 */
export interface ChainAccountReads {
  /** Returns the account as JSON, at most `maxAgeMs` old. Throws `NodeUnavailableError` and `NOT_READY`. */
  text(trader: Address): Promise<string>
  /**
   * Returns the holdings of any address, at most `maxAgeMs` old, and writes nothing to a log. Default the option.
   * Throws what `text` throws.
   */
  holdings(trader: Address, maxAgeMs?: number): Holdings | Promise<Holdings>
  /**
   * Reads all these accounts again in one round trip. Throws `NodeUnavailableError` when no account could be read and
   * the node seems to be the reason.
   */
  refresh(traders: readonly Address[]): Promise<void>
  /** Returns the first of these traders, as many as one round trip reads. */
  batchOf(traders: Iterable<Address>): Address[]
  /**
   * Reads the terms of traders in the pairs of all open positions where they are due, whether anybody asks for the
   * trader or not. Throws `NodeUnavailableError`.
   */
  refreshTerms(): Promise<void>
  /** Reads the terms of a trader in a pair where they are due. While the node is away, those known before hold. */
  learnTerms(pair: TradedPair): Promise<void>
  /**
   * Returns true when the last read found nothing of the trader on the chain: no position, order, balance or
   * delegation.
   */
  holdsNothing(trader: Address): Promise<boolean>
  /** Drops the cached holdings, because something happened to this account: the next read asks the chain. */
  forget(trader: Address): void
  /** Notes that another node may have written to the trader's log. */
  noteTold(trader: Address): void
  /** Resolves when no write to a log is under way. */
  idle(): Promise<void>
}

export interface AccountReadsOptions {
  readonly agents: Pick<ChainAgents, 'chain' | 'client' | 'relayer' | 'registry' | 'delegates'>
  /** Returns the listed collaterals; `undefined` until they are read. */
  readonly collaterals: () => readonly ListedCollateral[] | undefined
  readonly positions: Pick<LivePositions, 'ofTrader' | 'active' | 'packedPairs'>
  /** Returns true when an order of the trader is prepared, pending or open. */
  readonly hasOrders: (trader: Address) => Promise<boolean>
  /** Learns the traders' own terms, which each read of an account includes for the pairs of its positions. */
  readonly terms: Pick<KnownTerms, 'learn' | 'isDue'>
  readonly log: Pick<AccountLog, 'account'>
  /** True when other nodes write to the same logs: each read then also asks for its block. Default false. */
  readonly isShared?: boolean
  readonly maxAgeMs: number
  readonly now: () => number
  /** Receives errors of the background work. The account or the log is tried again later. */
  readonly onFailure: (error: unknown) => void
}

export function createAccountReads(options: AccountReadsOptions): ChainAccountReads {
  const { agents, positions, terms, now, onFailure } = options
  const { delegates } = agents
  const cache = createHoldingsCache(options)
  const teller = createAccountTeller(options)
  const dueTerms = createDueTerms(options)
  let asked = 0

  function look(traders: readonly Address[], collaterals: readonly ListedCollateral[]): Promise<Look>[] {
    const order = (asked += 1)
    const askedAtMs = now()
    const of = { collaterals, isPlaced: options.isShared === true }
    const answers = readAccounts(agents.client, agents.chain, of, traders.map(askedOf))
    return traders.map(async (trader, at) => {
      const answer = (await answers)[at]!
      if (answer instanceof UnreadableAccountError) throw answer
      const { holdings, ownTerms, blocks } = answer
      delegates.learn(trader, holdings.delegate, askedAtMs)
      for (const [pairIndex, own] of ownTerms) terms.learn(trader, pairIndex, own, askedAtMs)
      return { order, holdings, blocks }
    })
  }

  function askedOf(trader: Address): AskedAccount {
    return { trader, pairIndices: [...new Set(positions.ofTrader(trader).map(({ state }) => state.trade.pairIndex))] }
  }

  function cachedLook(trader: Address, maxAgeMs = options.maxAgeMs): Look | Promise<Look> {
    return cache.get(trader, maxAgeMs, async () => {
      const collaterals = options.collaterals()
      if (collaterals === undefined) throw notReady('starting')
      return look([trader], collaterals)[0]!
    })
  }

  async function tell(trader: Address, { holdings, order, blocks }: Look): Promise<string> {
    const found = agents.registry.agentsOf(agents.chain.slug, trader)
    const records = found instanceof Promise ? await found : found
    const text = JSON.stringify(accountAnswer({ ...agents, records }, trader, holdings, now()))
    await teller.tell(trader, { holdings: JSON.stringify(holdings), text, order, blocks })
    return text
  }

  return {
    batchOf: (traders) =>
      firstBatch(options.collaterals() ?? [], Iterator.from(traders).map(askedOf)).map(({ trader }) => trader),
    refreshTerms: async () => readTerms(options, await dueTerms()),
    learnTerms: (pair) => learnDue(options, pair),
    forget: cache.forget,
    holdsNothing: (trader) => holdsNothing(options, trader, cache.peek(trader)?.holdings),
    noteTold: teller.forget,
    idle: teller.idle,
    holdings(trader, maxAgeMs) {
      const found = cachedLook(trader, maxAgeMs)
      return found instanceof Promise ? found.then(({ holdings }) => holdings) : found.holdings
    },
    async text(trader) {
      const found = await cachedLook(trader)
      return tell(trader, teller.isOutdated(trader, found.order) ? await cachedLook(trader) : found)
    },
    async refresh(traders) {
      const collaterals = options.collaterals()
      if (collaterals === undefined) return
      const looks = look(traders, collaterals)
      traders.forEach((trader, at) => cache.put(trader, looks[at]!))
      const failures = await failuresOf(traders.map(async (trader, at) => tell(trader, await looks[at]!)))
      failures.forEach(onFailure)
      if (failures.length < traders.length) return
      delegates.missed()
      // A single account that can't be read must not stop the queue from reading the other accounts.
      if (traders.length === 1 && failures[0] instanceof UnreadableAccountError) return
      throw new NodeUnavailableError('no account could be read', { cause: failures[0] })
    },
  }
}

async function readTerms({ agents, terms, now }: AccountReadsOptions, pairs: readonly TradedPair[]): Promise<void> {
  const askedAtMs = now()
  await readOwnTerms(agents.client, agents.chain, pairs, ({ trader, pairIndex }, own) =>
    terms.learn(trader, pairIndex, own, askedAtMs),
  )
}

async function learnDue(options: AccountReadsOptions, pair: TradedPair): Promise<void> {
  if (options.terms.isDue(pair.trader, pair.pairIndex)) await readTerms(options, [pair]).catch(passOverNode)
}

/** Throws every error again but that of a node which is away. */
function passOverNode(error: unknown): void {
  if (!(error instanceof NodeUnavailableError)) throw error
}

async function holdsNothing(
  { positions, hasOrders }: Pick<AccountReadsOptions, 'positions' | 'hasOrders'>,
  trader: Address,
  found: Holdings | undefined,
): Promise<boolean> {
  if (found === undefined || positions.ofTrader(trader).length > 0) return false
  if (found.delegate !== NOBODY || found.balances.some(({ balance }) => balance !== '0')) return false
  return !(await hasOrders(trader))
}

async function failuresOf(works: readonly Promise<unknown>[]): Promise<unknown[]> {
  const outcomes = await Promise.allSettled(works)
  return outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
}

/**
 * The number of revoked or expired agents that an account shows. There may be many, so only the newest are
 * shown.
 */
const MAX_PAST_AGENTS = 20

type AccountSources = Pick<ChainAgents, 'chain' | 'relayer'> & {
  /** The agents of the trader. */
  readonly records: readonly AgentRecord[]
  readonly delegates: Pick<ChainAgents['delegates'], 'known'>
}

/**
 * Returns an account as REST, the stream and its events show it. Keys and agents have a fixed order, so two accounts
 * are equal exactly when their JSON is.
 */
function accountAnswer(
  { chain, relayer, records, delegates }: AccountSources,
  trader: Address,
  holdings: Holdings,
  nowMs: number,
): Account {
  const { balances, feeTierMultiplier, referrer } = holdings
  // A later read may have found another delegate by now.
  const delegate = delegates.known(trader) ?? holdings.delegate
  const agents = shownAgents(records, nowMs).map((record) => {
    const { agent } = agentAnswer({ chain, relayer }, record, delegate, nowMs)
    return { ...agent, scope: inOrder(agent.scope) }
  })
  return { address: trader, balances, feeTierMultiplier, referrer, agents }
}

/** Returns the agents in force and the newest `MAX_PAST_AGENTS` of the others. */
function shownAgents(records: readonly AgentRecord[], nowMs: number): AgentRecord[] {
  const isOver = (record: AgentRecord): boolean => record.revoked || isExpired(record, nowMs)
  const past = new Set(records.filter(isOver).slice(0, -MAX_PAST_AGENTS))
  return records.filter((record) => !past.has(record))
}

/**
 * Puts the keys of a scope in a fixed order. The registry keeps them in the order in which the trader's client sent
 * them.
 */
function inOrder({ markets, maxLeverage, dailySpendCapUsd, expiresAt, permissions }: AgentScope): AgentScope {
  return { markets, maxLeverage, dailySpendCapUsd, expiresAt, permissions }
}

/** Cache of the last read holdings of each account. */
interface HoldingsCache {
  /**
   * Returns holdings that are at most `maxAgeMs` old, without a promise when they are in memory; else calls `read`,
   * which asks the chain. Concurrent requests share one read.
   */
  get(trader: Address, maxAgeMs: number, read: () => Promise<Look>): Look | Promise<Look>
  /** Stores a read that has just begun: requests from now on wait for it. */
  put(trader: Address, reading: Promise<Look>): void
  /** Returns the last holdings that were read, however old. */
  peek(trader: Address): Look | undefined
  /** Drops the entry, so that the next request reads again. */
  forget(trader: Address): void
}

interface Entry {
  readonly askedAtMs: number
  readonly reading: Promise<Look>
  /** The result of `reading`; `undefined` until it resolves. */
  look: Look | undefined
}

/** The delegate of a trader who has none. */
const NOBODY = zeroAddress as Address

/** The number of accounts kept in memory. Any further account is simply read again. */
const MAX_ACCOUNTS = 10_000

function createHoldingsCache({ now }: Pick<AccountReadsOptions, 'now'>): HoldingsCache {
  const entries = createLru<Address, Entry>(MAX_ACCOUNTS)

  function remove(trader: Address, entry: Entry): void {
    if (entries.get(trader) === entry) entries.delete(trader)
  }

  function put(trader: Address, reading: Promise<Look>): void {
    const entry: Entry = { askedAtMs: now(), reading, look: undefined }
    entries.set(trader, entry)
    // Requests that wait for a failed read get the failure; later requests read again.
    reading.then(
      (look) => (entry.look = look),
      () => remove(trader, entry),
    )
  }

  return {
    put,
    get(trader, maxAgeMs, read) {
      const known = entries.get(trader)
      if (known !== undefined && now() - known.askedAtMs < maxAgeMs) return known.look ?? known.reading
      const reading = read()
      put(trader, reading)
      return reading
    },
    peek: (trader) => entries.peek(trader)?.look,
    forget: entries.delete,
  }
}
