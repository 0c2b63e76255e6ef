import { setTimeout as sleep } from 'node:timers/promises'
import type { RpcCall } from '../rpcClient.ts'

/**
 * Units that providers bill for a call, from the published table of one of them (live.md, Providers). What is not
 * listed counts as a call of a contract.
 */
const UNITS: Readonly<Record<string, number>> = {
  eth_chainId: 0,
  eth_blockNumber: 10,
  eth_getBlockByNumber: 20,
  eth_getTransactionReceipt: 20,
  eth_getTransactionByHash: 20,
  eth_getLogs: 60,
}

const CALL_UNITS = 26

/** Returns the units of one call. */
export function unitsOf({ method }: Pick<RpcCall, 'method'>): number {
  return UNITS[method] ?? CALL_UNITS
}

/** The askers of a provider, in the order in which they take turns while units are short. */
const ASKERS = ['writer', 'follower', 'reader'] as const

export type Asker = (typeof ASKERS)[number]

/** The rate at which one provider is asked: a setting, or learnt from what it refused, or none. */
export interface UnitBudget {
  /** Returns the units a second; `undefined` while there is no bound. */
  rate(): number | undefined
  /**
   * Resolves when these units may be spent. More than a second's worth is lent, and paid back before the next. Those
   * who wait take turns, so that neither a write nor the follower waits for more than one of each other kind.
   */
  take(units: number, asker?: Asker): Promise<void>
  /** Returns the milliseconds until all that waits now is served. */
  waitMs(): number
  /** Lowers the rate below the one at which the provider refused. */
  refused(): void
}

/** Somebody who waits for units. */
interface Waiting {
  readonly units: number
  readonly resolve: () => void
}

export interface UnitBudgetOptions {
  /** The units a second that the operator allows; `undefined`: as many as the provider takes. */
  readonly unitsPerSecond: number | undefined
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number
}

/** The lowest learnt rate: ten calls of a contract a second, half of a free plan. Below that writes would wait. */
const MIN_RATE = 10 * CALL_UNITS

/** The share of the refused rate at which the provider is asked on. */
const LOWERED = 0.7

/** The factor by which a learnt rate grows in every `GROW_MS` without a refusal, so that one bad moment passes. */
const GROWTH = 1.5

const GROW_MS = 10_000

/** A learnt rate is forgotten when it has grown to so many times the first one. */
const FORGET_FACTOR = 8

const SECOND_MS = 1_000

export function createUnitBudget({ unitsPerSecond, now }: UnitBudgetOptions): UnitBudget {
  let learnt: { rate: number; readonly first: number; atMs: number } | undefined
  let refusedAtMs = Number.NEGATIVE_INFINITY
  let tokens = unitsPerSecond ?? 0
  let filledAtMs = now()
  /** Units of the current and the last second, from which the refused rate is judged. */
  const spent = createSpentSeconds(now)
  const queue = createQueue()
  let isServing = false

  function rate(): number | undefined {
    if (learnt === undefined) return unitsPerSecond
    const steps = Math.floor((now() - learnt.atMs) / GROW_MS)
    if (steps > 0) {
      learnt.rate *= GROWTH ** steps
      learnt.atMs += steps * GROW_MS
    }
    if (learnt.rate > learnt.first * FORGET_FACTOR) learnt = undefined
    if (learnt === undefined) return unitsPerSecond
    return Math.min(learnt.rate, unitsPerSecond ?? learnt.rate)
  }

  /** Adds what has come in since the last time. Returns the milliseconds until something may be spent. */
  function fill(perSecond: number): number {
    const atMs = now()
    tokens = Math.min(perSecond, tokens + ((atMs - filledAtMs) / SECOND_MS) * perSecond)
    filledAtMs = atMs
    return tokens > 0 ? 0 : Math.ceil((-tokens / perSecond) * SECOND_MS) + 1
  }

  /** Serves those who wait, one after the other, for as long as there are some. */
  async function serve(): Promise<void> {
    isServing = true
    while (!queue.isEmpty()) {
      const perSecond = rate()
      const waitMs = perSecond === undefined ? 0 : fill(perSecond)
      if (waitMs > 0) {
        await sleep(Math.min(waitMs, SECOND_MS))
        continue
      }
      const { units, resolve } = queue.next()
      tokens -= units
      spent.add(units)
      resolve()
    }
    isServing = false
  }

  return {
    rate,
    take(units, asker = 'reader') {
      if (rate() === undefined) {
        spent.add(units)
        return Promise.resolve()
      }
      return new Promise((resolve) => {
        queue.add(asker, { units, resolve })
        if (!isServing) void serve()
      })
    },
    waitMs() {
      const perSecond = rate()
      if (perSecond === undefined) return 0
      fill(perSecond)
      return Math.max(0, ((queue.units() - tokens) / perSecond) * SECOND_MS)
    },
    refused() {
      tokens = Math.min(tokens, 0)
      filledAtMs = now()
      // Everything that was under way at the same time is refused together, and says the same.
      if (now() - refusedAtMs < SECOND_MS) return
      refusedAtMs = now()
      const lowered = Math.max(MIN_RATE, Math.min(spent.perSecond(), rate() ?? Number.POSITIVE_INFINITY) * LOWERED)
      learnt = { rate: lowered, first: learnt === undefined ? lowered : Math.min(learnt.first, lowered), atMs: now() }
    },
  }
}

/** The queue for units, in which the askers take turns. */
interface Queue {
  add(asker: Asker, waiting: Waiting): void
  isEmpty(): boolean
  /** Takes the next one out; there must be one. */
  next(): Waiting
  /** Returns the units of all that wait. */
  units(): number
}

function createQueue(): Queue {
  const queues = ASKERS.map((): Waiting[] => [])
  let turn = 0
  let units = 0
  const isEmpty = (): boolean => queues.every(({ length }) => length === 0)

  function next(): Waiting {
    const found = queues[turn]!.shift()
    turn = (turn + 1) % queues.length
    if (found === undefined) return next()
    units -= found.units
    return found
  }

  return {
    add(asker, waiting) {
      queues[ASKERS.indexOf(asker)]!.push(waiting)
      units += waiting.units
    },
    isEmpty,
    next,
    units: () => units,
  }
}

function createSpentSeconds(now: () => number): { add(units: number): void; perSecond(): number } {
  let second = 0
  let [current, last] = [0, 0]
  const move = (): void => {
    const at = Math.floor(now() / SECOND_MS)
    if (at === second) return
    last = at === second + 1 ? current : 0
    current = 0
    second = at
  }
  return {
    add(units) {
      move()
      current += units
    },
    perSecond() {
      move()
      return Math.max(current, last)
    },
  }
}
