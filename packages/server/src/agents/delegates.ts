import { setTimeout as sleep } from 'node:timers/promises'
import type { Address } from '@bezel/protocol'
import { diamondCall, readAll } from '../chain/diamondCalls.ts'
import type { RpcClient } from '../chain/rpcClient.ts'
import { NodeUnavailableError } from '../chain/rpcOutcome.ts'

/** Who the chain lets trade for a trader. It tells no change of it by an event, so it is read and kept for a short time. */
export interface Delegates {
  /** As of the last look; `undefined` before the first. */
  known(trader: Address): Address | undefined
  /**
   * For a private request of this trader, who counts as active from then on: the background round keeps the look fresh, so that only the
   * first request waits for the node. While the node is away or slow the last look holds. Throws `NodeUnavailableError` when there is none.
   */
  read(trader: Address): Promise<Address>
  /**
   * Whether the trader lets this agent act, for a request of the agent. A look that says yes is believed as `read` believes it; one that says no
   * is made again before anybody is refused, because the trader's transaction may have been mined a moment ago.
   */
  isDelegate(trader: Address, agent: Address): Promise<boolean>
  /** For anybody else: reads it again when the last look is older than the setting. Throws `NodeUnavailableError`. */
  look(trader: Address): Promise<Address>
  /** What another read of the chain found, for free. `askedAtMs` is when it was asked for. */
  learn(trader: Address, delegate: Address, askedAtMs?: number): void
  /** The background round: looks again for all active traders. Throws `NodeUnavailableError`. */
  refreshActive(): Promise<void>
}

export interface DelegatesOptions {
  readonly client: RpcClient
  readonly diamond: Address
  /** Between two rounds, and how old a look may be without one. */
  readonly maxAgeMs: number
  readonly now: () => number
}

/** As the chain said at `atMs`, when it was asked. */
interface Look {
  readonly delegate: Address
  readonly atMs: number
}

/** The oldest looks go first; a trader beyond it is simply read again. */
const MAX_KNOWN_TRADERS = 50_000

/** Who has sent no private request for so long is left out of the rounds. */
const ACTIVE_MS = 60_000

/** Bounds a round; a trader beyond it reads for itself. */
const MAX_ACTIVE_TRADERS = 5_000

/** Looks of active traders may be older by this factor: a round takes its time, and no request should wait for it. */
const ROUND_SLACK = 1.5

/** For so long after a failure nobody waits for the node again who has a look; the first answer ends it. */
const AWAY_MS = 10_000

/** A request that has a look to go by waits no longer than this for a newer one; then the node counts as away. */
const PATIENCE_MS = 500

export function createDelegates({ client, diamond, maxAgeMs, now }: DelegatesOptions): Delegates {
  const looks = new Map<Address, Look>()
  /** When each was last active, oldest first. */
  const active = new Map<Address, number>()
  const asked = new Map<Address, Promise<Address>>()
  let failedAtMs = Number.NEGATIVE_INFINITY

  function learn(trader: Address, delegate: Address, askedAtMs = now()): void {
    const before = looks.get(trader)
    // Two reads may overtake each other.
    if (before !== undefined && before.atMs > askedAtMs) return
    putLast(looks, trader, { delegate, atMs: askedAtMs }, MAX_KNOWN_TRADERS)
  }

  async function ask(traders: readonly Address[]): Promise<void> {
    const askedAtMs = now()
    try {
      const calls = traders.map((trader) => diamondCall(diamond, 'getTradingDelegate', [trader]))
      const delegates = await readAll(client, calls)
      traders.forEach((trader, at) => learn(trader, delegates[at] as Address, askedAtMs))
      failedAtMs = Number.NEGATIVE_INFINITY
    } catch (error) {
      if (error instanceof NodeUnavailableError) failedAtMs = now()
      throw error
    }
  }

  /** Requests of one trader that come together wait for one read. */
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
    putLast(active, trader, nowMs, MAX_ACTIVE_TRADERS)
    const last = looks.get(trader)
    if (last === undefined) return askOnce(trader)
    if (nowMs - last.atMs < maxAgeMs * ROUND_SLACK || nowMs - failedAtMs < AWAY_MS) return last.delegate
    return askPatiently(trader, last)
  }

  async function askPatiently(trader: Address, last: Look): Promise<Address> {
    let isAnswered = false
    const answer = askAgain(trader, last).finally(() => (isAnswered = true))
    const late = sleep(PATIENCE_MS, last.delegate, { ref: false }).then((delegate) => {
      if (!isAnswered) failedAtMs = now()
      return delegate
    })
    return Promise.race([answer, late])
  }

  /** What was seen last holds while the node is away. */
  async function askAgain(trader: Address, last: Look): Promise<Address> {
    try {
      return await askOnce(trader)
    } catch (error) {
      if (error instanceof NodeUnavailableError) return last.delegate
      throw error
    }
  }

  return {
    learn,
    read,
    async isDelegate(trader, agent) {
      if ((await read(trader)) === agent) return true
      // Somebody is refused only by an answer, or when there is none to be had.
      if (!asked.has(trader) && now() - failedAtMs < AWAY_MS) return false
      return (await askAgain(trader, looks.get(trader)!)) === agent
    },
    known: (trader) => looks.get(trader)?.delegate,
    async look(trader) {
      const last = looks.get(trader)
      return last !== undefined && now() - last.atMs < maxAgeMs ? last.delegate : askOnce(trader)
    },
    async refreshActive() {
      const sinceMs = now() - ACTIVE_MS
      for (const [trader, atMs] of active) {
        if (atMs >= sinceMs) break
        active.delete(trader)
      }
      if (active.size > 0) await ask([...active.keys()])
    },
  }
}

/** Makes it the newest entry, and drops the oldest one beyond `max`. */
function putLast<Value>(map: Map<Address, Value>, key: Address, value: Value, max: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= max) return
  for (const oldest of map.keys()) {
    map.delete(oldest)
    break
  }
}

/** The delegate as far as it can be known now: a node that is away must not hide what the service itself knows of an agent. */
export async function delegateIfKnown(delegates: Delegates, trader: Address): Promise<Address | undefined> {
  try {
    return await delegates.look(trader)
  } catch (error) {
    if (error instanceof NodeUnavailableError) return delegates.known(trader)
    throw error
  }
}
