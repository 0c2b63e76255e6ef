import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { Address } from '@bezel/protocol'
import { diamondCall, readAll } from '../chain/diamondCalls.ts'
import type { RpcClient } from '../chain/rpcClient.ts'
import { createLru } from '../ground/lru.ts'
import { createPublisher } from '../ground/publisher.ts'

/**
 * The on-chain trading delegates of traders. The chain emits no event when a delegate changes, so it is read and kept
 * for a short time. One such read is called a look.
 */
export interface Delegates extends Activity {
  /**
   * Calls the listener with a trader whose delegate differs from the look before, or was looked at for the first time.
   * Returns a function that ends the subscription.
   */
  onDelegate(listener: (trader: Address) => void): () => void
  /** Returns the delegate found by the last look; `undefined` before the first. */
  known(trader: Address): Address | undefined
  /**
   * Returns the delegate for a private request of this trader, who counts as active from then on: the background round
   * keeps the look fresh, so that only the first request waits for the node. While the node is away or slow the last
   * look holds. Throws `NodeUnavailableError` when there is none.
   */
  read(trader: Address): Promise<Address>
  /**
   * Returns true when this agent is the trader's delegate, for a request of the agent. A look that says yes is used as
   * by `read`; one that says no is repeated before the agent is refused, because the trader's transaction may have been
   * mined a moment ago.
   */
  isDelegate(trader: Address, agent: Address): Promise<boolean>
  /**
   * Returns the delegate without counting the trader as active; reads it again when the last look is older than
   * `maxAgeMs`. Default the setting. Throws `NodeUnavailableError`.
   */
  look(trader: Address, maxAgeMs?: number): Promise<Address>
  /** Stores the delegate that another read of the chain found. `askedAtMs` is when that read was sent. Default now. */
  learn(trader: Address, delegate: Address, askedAtMs?: number): void
  /**
   * Notes that another read of the chain, which includes delegates, failed: for 10 s no request that has a look waits
   * for the node.
   */
  missed(): void
  /**
   * Looks again for all active traders except those whose delegate another read refreshes. Called by the background
   * round. Throws `NodeUnavailableError`.
   */
  refreshActive(isReadElsewhere?: (trader: Address) => boolean): Promise<void>
  /** Looks again for these traders. Throws `NodeUnavailableError`. */
  refresh(traders: readonly Address[]): Promise<void>
}

/** The traders who sent private requests lately. Background rounds refresh what is read from the chain for them. */
interface Activity {
  /** Records that this trader sent a private request now. */
  touch(trader: Address): void
  isActive(trader: Address): boolean
  /** The traders who sent a private request in the last minute. */
  active(): Address[]
}

/** A trader's delegate, as the chain answered a read that was sent at `atMs`. */
interface Look {
  readonly delegate: Address
  readonly atMs: number
}

export interface DelegatesOptions {
  readonly client: RpcClient
  readonly diamond: Address
  /** Pause between two background rounds, and the greatest age of a look outside them, in milliseconds. */
  readonly maxAgeMs: number
  readonly now: () => number
}

/**
 * Factor by which looks of active traders may be older than `maxAgeMs`: a round takes some time, and no request should
 * wait for it.
 */
const ROUND_SLACK = 1.5

/**
 * Time after a failure during which a request that has a look does not wait for the node. A successful read ends it
 * early.
 */
const AWAY_MS = 10_000

/** The longest time that a request with a look waits for a newer one. After it the node counts as away. */
const PATIENCE_MS = 500

/** The number of traders kept in memory. Any further trader is simply read again. */
const MAX_KNOWN_TRADERS = 50_000

/** Time after the last private request after which a trader is left out of the rounds. */
const ACTIVE_MS = 60_000

/** The greatest number of traders in a round. Requests of any further trader read for themselves. */
const MAX_ACTIVE_TRADERS = 5_000

export function createDelegates({ client, diamond, maxAgeMs, now }: DelegatesOptions): Delegates {
  const looks = createLooks()
  const activity = createActivity(now)
  const asked = new Map<Address, Promise<Address>>()
  let failedAtMs = Number.NEGATIVE_INFINITY

  function learn(trader: Address, delegate: Address, askedAtMs = now()): void {
    looks.put(trader, { delegate, atMs: askedAtMs })
    failedAtMs = Number.NEGATIVE_INFINITY
  }

  async function ask(traders: readonly Address[]): Promise<void> {
    const askedAtMs = now()
    try {
      const calls = traders.map((trader) => diamondCall(diamond, 'getTradingDelegate', [trader]))
      const delegates = await readAll(client, calls)
      traders.forEach((trader, at) => learn(trader, delegates[at] as Address, askedAtMs))
    } catch (error) {
      if (error instanceof NodeUnavailableError) failedAtMs = now()
      throw error
    }
  }

  /** Reads the delegate of one trader. Concurrent requests for the same trader share one read. */
  function askOnce(trader: Address): Promise<Address> {
    const running = asked.get(trader)
    if (running !== undefined) return running
    const started = ask([trader])
      .then(() => looks.get(trader)!.delegate)
      .finally(() => asked.delete(trader))
    asked.set(trader, started)
    return started
  }

  async function read(trader: Address): Promise<Address> {
    const nowMs = now()
    activity.touch(trader)
    const last = looks.get(trader)
    if (last === undefined) return askOnce(trader)
    if (nowMs - last.atMs < maxAgeMs * ROUND_SLACK || nowMs - failedAtMs < AWAY_MS) return last.delegate
    return withPatience(askAgain(trader, last), () => {
      failedAtMs = now()
      return last.delegate
    })
  }

  /** Reads the delegate again, and falls back to the last look while the node is away. */
  async function askAgain(trader: Address, last: Look): Promise<Address> {
    try {
      return await askOnce(trader)
    } catch (error) {
      if (error instanceof NodeUnavailableError) return last.delegate
      throw error
    }
  }

  return {
    ...activity,
    onDelegate: looks.onDelegate,
    learn,
    read,
    async isDelegate(trader, agent) {
      if ((await read(trader)) === agent) return true
      // The agent is refused only by a fresh answer, or when the node is known to be away.
      if (!asked.has(trader) && now() - failedAtMs < AWAY_MS) return false
      return (await askAgain(trader, looks.get(trader)!)) === agent
    },
    known: (trader) => looks.get(trader)?.delegate,
    async look(trader, ageMs = maxAgeMs) {
      const last = looks.get(trader)
      return last !== undefined && now() - last.atMs < ageMs ? last.delegate : askOnce(trader)
    },
    missed: () => void (failedAtMs = now()),
    refreshActive: (isReadElsewhere = () => false) =>
      ask(activity.active().filter((trader) => !isReadElsewhere(trader))),
    refresh: ask,
  }
}

/** Stores the last look at each trader. */
function createLooks() {
  const looks = createLru<Address, Look>(MAX_KNOWN_TRADERS)
  const changes = createPublisher<Address>()
  return {
    get: looks.get,
    /** Ignores a look that is older than the stored one, because two reads may overtake each other. */
    put(trader: Address, look: Look): void {
      const before = looks.get(trader)
      if (before !== undefined && before.atMs > look.atMs) return
      looks.set(trader, look)
      if (before?.delegate !== look.delegate) changes.publish(trader)
    },
    onDelegate: changes.subscribe,
  }
}

function createActivity(now: () => number): Activity {
  /** The time of each trader's last activity, oldest first. */
  const times = createLru<Address, number>(MAX_ACTIVE_TRADERS)
  return {
    touch: (trader) => times.set(trader, now()),
    isActive: (trader) => now() - (times.peek(trader) ?? Number.NEGATIVE_INFINITY) <= ACTIVE_MS,
    active() {
      const sinceMs = now() - ACTIVE_MS
      for (const [trader, atMs] of times.entries()) {
        if (atMs >= sinceMs) break
        times.delete(trader)
      }
      return [...times.entries()].map(([trader]) => trader)
    },
  }
}

/** Returns the answer, or the result of `instead` when the answer takes longer than `PATIENCE_MS`. */
async function withPatience<Answer>(answer: Promise<Answer>, instead: () => Answer): Promise<Answer> {
  let isAnswered = false
  const answered = answer.finally(() => (isAnswered = true))
  const patience = new Promise<void>((resolve) => setTimeout(resolve, PATIENCE_MS).unref())
  const late = patience.then(() => (isAnswered ? answered : instead()))
  return Promise.race([answered, late])
}

/**
 * Returns the delegate, or the last known one while the node is away: an unavailable node must not hide what the
 * service itself knows of an agent.
 */
export async function delegateIfKnown(
  delegates: Pick<Delegates, 'look' | 'known'>,
  trader: Address,
): Promise<Address | undefined> {
  try {
    return await delegates.look(trader)
  } catch (error) {
    if (error instanceof NodeUnavailableError) return delegates.known(trader)
    throw error
  }
}
