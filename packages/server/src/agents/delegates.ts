import { NodeUnavailableError } from '../ground/unavailable.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Address } from '@bezel/protocol'
import { diamondCall, readAll } from '../chain/diamondCalls.ts'
import type { RpcClient } from '../chain/rpcClient.ts'
import { createActivity, type Activity } from './activity.ts'
import { createLooks, type Look, type Looks } from './delegateLooks.ts'

/** Who the chain lets trade for a trader. It tells no change of it by an event, so it is read and kept for a short time. */
export interface Delegates extends Activity, Pick<Looks, 'onDelegate'> {
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
  /** Another read of the chain that would have found it failed: for a while nobody who has a look waits for the node. */
  missed(): void
  /** The background round: looks again for all active traders but those that another read takes care of. Throws `NodeUnavailableError`. */
  refreshActive(isReadElsewhere?: (trader: Address) => boolean): Promise<void>
  /** Looks again for these traders. Throws `NodeUnavailableError`. */
  refresh(traders: readonly Address[]): Promise<void>
}

export interface DelegatesOptions {
  readonly client: RpcClient
  readonly diamond: Address
  /** Between two rounds, and how old a look may be without one. */
  readonly maxAgeMs: number
  readonly now: () => number
}

/** Looks of active traders may be older by this factor: a round takes its time, and no request should wait for it. */
const ROUND_SLACK = 1.5

/** For so long after a failure nobody waits for the node again who has a look; the first answer ends it. */
const AWAY_MS = 10_000

/** A request that has a look to go by waits no longer than this for a newer one; then the node counts as away. */
const PATIENCE_MS = 500

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
    activity.touch(trader)
    const last = looks.get(trader)
    if (last === undefined) return askOnce(trader)
    if (nowMs - last.atMs < maxAgeMs * ROUND_SLACK || nowMs - failedAtMs < AWAY_MS) return last.delegate
    return withPatience(askAgain(trader, last), () => {
      failedAtMs = now()
      return last.delegate
    })
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
    ...activity,
    onDelegate: looks.onDelegate,
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
    missed: () => void (failedAtMs = now()),
    refreshActive: (isReadElsewhere = () => false) =>
      ask(activity.active().filter((trader) => !isReadElsewhere(trader))),
    refresh: ask,
  }
}

/** An answer, or what is said instead when it takes too long. */
async function withPatience<Answer>(answer: Promise<Answer>, instead: () => Answer): Promise<Answer> {
  let isAnswered = false
  const answered = answer.finally(() => (isAnswered = true))
  const late = sleep(PATIENCE_MS, undefined, { ref: false }).then(() => (isAnswered ? answered : instead()))
  return Promise.race([answered, late])
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
