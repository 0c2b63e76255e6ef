import type { Address, Hex } from '@bezel/protocol'
import { pad } from 'viem'
import { bloomTestOf, type BloomTest } from '../chain/bloom.ts'
import { createAccountReads, type AccountReadsOptions } from './accountReads.ts'
import type { TradedPair } from './positions/traderTerms.ts'
import type { Holdings } from './readHoldings.ts'
import { createLru } from '../ground/lru.ts'
import { createRoundRobin } from '../ground/roundRobin.ts'
import { createRefCounted } from '../ground/refCounted.ts'

/** Queue of accounts to read again. One batch is read at a time, and an account waits in the queue only once. */
interface RefreshQueue {
  /** Reads this account before all accounts that wait for a round. */
  soon(trader: Address): void
  /** Resolves to true when all these accounts were read, to false when the queue gave up. */
  round(traders: Iterable<Address>): Promise<boolean>
  /** Resolves when no batch is under way. */
  idle(): Promise<void>
}

interface RefreshQueueOptions {
  /** Reads a batch. Rejects when reading the remaining accounts makes no sense now. */
  readonly read: (traders: readonly Address[]) => Promise<void>
  /** Returns the first of these accounts, as many as one batch reads. */
  readonly batchOf: (traders: Iterable<Address>) => readonly Address[]
  readonly onFailure: (error: unknown) => void
}

/**
 * The accounts of one chain. They are read in rounds, because the chain emits no events about balances and delegates.
 */
export interface Accounts {
  /**
   * Returns the account as JSON, after at most one round trip, and none while the last read is younger than the refresh
   * interval. A change is written to the trader's log before it is shown. Only for traders who are known to the
   * service, because the call starts a log. Throws `NodeUnavailableError` and `NOT_READY`.
   */
  accountText(trader: Address): Promise<string>
  /**
   * Notes that the chain changed this account: it is read again at once when the trader is watched or active, otherwise
   * on the next request.
   */
  forget(trader: Address): void
  /** Keeps the account in the background rounds until the returned function is called. */
  watch(trader: Address): () => void
}

/** Figures about the background rounds. */
export interface AccountStats {
  readonly rounds: number
  /** The number of accounts that were candidates for the last round, including those the round left out. */
  readonly watched: number
  readonly lastRoundAtMs: number | undefined
}

export interface ChainAccounts extends Accounts {
  /**
   * Returns the holdings of any address, known to the service or not, after at most one round trip, and writes nothing.
   * Throws `NodeUnavailableError` and `NOT_READY`.
   */
  holdings(trader: Address): Holdings | Promise<Holdings>
  /**
   * Does the same with holdings of up to a minute, which the background rounds keep younger for every trader who asks
   * for something: only the first question of a trader who was away waits for the chain.
   */
  knownHoldings(trader: Address): Holdings | Promise<Holdings>
  /**
   * Notes who sent the transactions of a block, because the Diamond emits no event for an approval or a payment. Active
   * traders among them are read again at once, all others on the next request.
   */
  noteSenders(senders: Iterable<Address>): void
  /**
   * Notes the bloom filter of all logs of a block. Active and subscribed traders whose wallets may be in a log of a
   * collateral's token, a transfer or an approval, are read again at once. On busy chains most filters are false
   * alarms, so each trader is read a few times only until the rounds alone do it again.
   */
  noteLogs(logsBloom: Hex): void
  /**
   * Reads the terms of a trader in a pair where they were not read for an hour, or never. While the node is away, those
   * known before hold.
   */
  learnTerms(pair: TradedPair): Promise<void>
  /**
   * Reads the accounts of traders who are subscribed to or were active lately, those with nothing on the chain once a
   * minute, and the terms of all traders with positions where they are due. Throws `NodeUnavailableError`.
   */
  round(): Promise<void>
  stats(): AccountStats
  /** Notes that another node may have told the account in the trader's log. */
  noteTold(trader: Address): void
  /** Resolves when no read and no write to a log is under way. */
  idle(): Promise<void>
}

/** Limits how many accounts one round asks a node for. With more traders than that, they take turns. */
const MAX_TRADERS_PER_ROUND = 250

/**
 * Pause between two looks at an account that has nothing on the chain: anybody can be subscribed to, and an account
 * without anything rarely changes.
 */
const EMPTY_LOOK_MS = 60_000

/** Age up to which holdings count as known: as long as a trader stays in the rounds after its last request. */
const KNOWN_MS = 60_000

/** The number of accounts that are remembered as empty. Any further one is read like all others. */
const MAX_EMPTY = 10_000

/** The number of accounts that are remembered as having something, as many as can be active. */
const MAX_HOLDERS = 5_000

/** The number of early reads of a trader in a row, and the number of rounds after which it has one more. */
const EARLY_READS = 5
const ROUNDS_PER_EARLY_READ = 10

/** The number of wallets and tokens whose places in bloom filters are remembered. */
const MAX_BLOOM_TESTS = 5_100

export function createAccounts(options: AccountReadsOptions): ChainAccounts {
  const { collaterals, now, onFailure } = options
  const { delegates } = options.agents
  const reads = createAccountReads(options)
  /** The traders whose account somebody is subscribed to. */
  const watched = createRefCounted((trader: Address) => trader)
  const rotation = createRoundRobin<Address>()
  const queue = createRefreshQueue({ read: reads.refresh, batchOf: reads.batchOf, onFailure })
  /** The time of the last look at accounts that have nothing on the chain. */
  const empty = createLru<Address, number>(MAX_EMPTY)
  const isResting = (trader: Address): boolean => now() - (empty.peek(trader) ?? -Infinity) < EMPTY_LOOK_MS
  /** The traders who had something on the chain at the last look. */
  const holders = createLru<Address, true>(MAX_HOLDERS)
  const early = createEarlyReads(options)
  const candidates = (): ReadonlySet<Address> => new Set([...watched.items(), ...delegates.active()])
  let stats: AccountStats = { rounds: 0, watched: 0, lastRoundAtMs: undefined }

  function forget(trader: Address): void {
    reads.forget(trader)
    empty.delete(trader)
    if (watched.get(trader) !== undefined || delegates.isActive(trader)) queue.soon(trader)
  }

  return {
    accountText: reads.text,
    holdings: reads.holdings,
    knownHoldings: (trader) => reads.holdings(trader, Math.max(KNOWN_MS, options.maxAgeMs)),
    learnTerms: reads.learnTerms,
    watch(trader) {
      watched.hold(trader)
      let isWatching = true
      return () => {
        if (isWatching) watched.release(trader)
        isWatching = false
      }
    },
    stats: () => stats,
    noteTold: reads.noteTold,
    forget,
    noteSenders(senders) {
      for (const sender of senders) {
        empty.delete(sender)
        // An active trader keeps what is known of it until the read is done: the node may be gone by then.
        if (delegates.isActive(sender)) queue.soon(sender)
        else reads.forget(sender)
      }
    },
    noteLogs(logsBloom) {
      for (const trader of early.dueOf(logsBloom, candidates)) queue.soon(trader)
    },
    async round() {
      const asked = candidates()
      const awake = new Set([...asked].filter((trader) => !isResting(trader)))
      const canRead = collaterals() !== undefined
      const due = rotation.take(awake, canRead ? MAX_TRADERS_PER_ROUND : 0)
      // Requests of active traders are checked against their delegates, so every round refreshes the delegates of all
      // of them who have something on the chain.
      await delegates.refreshActive((trader) => due.has(trader) || (canRead && holders.get(trader) === undefined))
      if (!(await queue.round(due))) return
      for (const trader of due) {
        if (await reads.holdsNothing(trader)) {
          empty.set(trader, now())
          holders.delete(trader)
        } else {
          empty.delete(trader)
          holders.set(trader, true)
        }
      }
      await reads.refreshTerms()
      stats = { rounds: stats.rounds + 1, watched: asked.size, lastRoundAtMs: now() }
    },
    async idle() {
      await queue.idle()
      await reads.idle()
    },
  }
}

/** Reads of accounts before their round, because a bloom filter tells that they may have changed. */
interface EarlyReads {
  /** Returns the traders who may be in a log of a token and have an early read left, which they use up. */
  dueOf(logsBloom: Hex, traders: () => Iterable<Address>): Address[]
}

function createEarlyReads({
  collaterals,
  maxAgeMs,
  now,
}: Pick<AccountReadsOptions, 'collaterals' | 'maxAgeMs' | 'now'>): EarlyReads {
  const tests = createLru<Address | Hex, BloomTest>(MAX_BLOOM_TESTS)
  /** The time from which on each trader has all of its early reads again. */
  const wholeAtMs = createLru<Address, number>(MAX_HOLDERS)
  const eachMs = maxAgeMs * ROUNDS_PER_EARLY_READ

  function isIn(entry: Address | Hex, logsBloom: Hex): boolean {
    const test = tests.get(entry) ?? bloomTestOf(entry)
    tests.set(entry, test)
    return test(logsBloom)
  }

  function take(trader: Address): boolean {
    const atMs = Math.max(now(), wholeAtMs.get(trader) ?? 0) + eachMs
    if (atMs - now() > EARLY_READS * eachMs) return false
    wholeAtMs.set(trader, atMs)
    return true
  }

  return {
    dueOf(logsBloom, traders) {
      const tokens = collaterals() ?? []
      if (!tokens.some(({ address }) => isIn(address, logsBloom))) return []
      return [...traders()].filter((trader) => isIn(pad(trader) as Hex, logsBloom) && take(trader))
    },
  }
}

function createRefreshQueue({ read, batchOf, onFailure }: RefreshQueueOptions): RefreshQueue {
  const urgent = new Set<Address>()
  const waiting = new Set<Address>()
  let running: Promise<boolean> | undefined

  function take(): readonly Address[] {
    const batch = batchOf(urgent.union(waiting))
    for (const trader of batch) {
      urgent.delete(trader)
      waiting.delete(trader)
    }
    return batch
  }

  async function work(): Promise<boolean> {
    // A block touches many accounts; waiting one microtask lets all of them join the first batch.
    await Promise.resolve()
    try {
      for (let batch = take(); batch.length > 0; batch = take()) await read(batch)
      return true
    } catch (error) {
      // The next round starts by itself and reads what was missed.
      urgent.clear()
      waiting.clear()
      onFailure(error)
      return false
    } finally {
      running = undefined
    }
  }

  const start = (): Promise<boolean> => (running ??= work())

  return {
    soon(trader) {
      urgent.add(trader)
      void start()
    },
    round(traders) {
      for (const trader of traders) waiting.add(trader)
      return waiting.size === 0 ? Promise.resolve(true) : start()
    },
    async idle() {
      await running
    },
  }
}
