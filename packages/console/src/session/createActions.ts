import type { BezelClient } from '@bezel/sdk'
import { signal, type ReadonlySignal, type Signal } from '@preact/signals'
import { problemOf, type Problem } from '../ground/problem.ts'
import { AccountChangedError } from './createSession.ts'

/** Options of an action. */
export interface ActionOptions<Result> {
  /** Title of the toast after success, or a function of the result; null or nothing shows none. */
  readonly done?: string | ((result: Result) => string | null)
  /**
   * Conditions of the work; one that is not met is asked for before the work begins. `trade` (default): connected,
   * right chain, signed in, and the wallet registered as its own agent (one more signature, once for ever). `wallet`:
   * connected and on the right chain, for approvals, delegations and agents. `read`: signed in.
   */
  readonly needs?: Needs
}

export type Needs = 'trade' | 'wallet' | 'read'

/** The work of an action. `guard` throws when the account was switched meanwhile. */
export type ActionWork<Result> = (client: BezelClient, guard: () => void) => Promise<Result>

/** Parts of the session that actions need. */
export interface ActionParts {
  readonly epoch: ReadonlySignal<number>
  /** Brings about what an action needs, and returns its client. Throws what stands in the way. */
  readonly ready: (needs: Needs, guard: () => void) => Promise<BezelClient>
  readonly tell: (told: { readonly tone: 'good'; readonly title: string; readonly key: string }) => void
  /** Told each failure, before it is shown. */
  readonly onFailure: (error: unknown) => void
}

/** The actions of the user. */
export interface Actions {
  runAction<Result>(
    name: string,
    work: ActionWork<Result>,
    options?: ActionOptions<Result>,
  ): Promise<Result | undefined>
  isBusy(name: string): ReadonlySignal<boolean>
  problemOfAction(name: string): ReadonlySignal<Problem | null>
  clearProblem(name: string): void
}

interface Slot {
  readonly busy: Signal<boolean>
  readonly problem: Signal<Problem | null>
}

/** Creates the actions of a page. */
export function createActions(parts: ActionParts): Actions {
  const slots = new Map<string, Slot>()
  function slotOf(name: string): Slot {
    const known = slots.get(name)
    if (known !== undefined) return known
    const slot = { busy: signal(false), problem: signal(null) }
    slots.set(name, slot)
    return slot
  }
  return {
    isBusy: (name) => slotOf(name).busy,
    problemOfAction: (name) => slotOf(name).problem,
    clearProblem: (name) => void (slotOf(name).problem.value = null),
    async runAction(name, work, { done, needs = 'trade' } = {}) {
      const slot = slotOf(name)
      if (slot.busy.peek()) return undefined
      slot.busy.value = true
      slot.problem.value = null
      try {
        const result = await unlessSwitched(parts.epoch, async (guard) => work(await parts.ready(needs, guard), guard))
        const title = typeof done === 'function' ? done(result) : done
        if (typeof title === 'string') parts.tell({ tone: 'good', title, key: name })
        return result
      } catch (error) {
        parts.onFailure(error)
        slot.problem.value = error instanceof ShownProblemError ? error.problem : problemOf(error)
        return undefined
      } finally {
        slot.busy.value = false
      }
    },
  }
}

/**
 * Runs work for the present account. Rejects with `AccountChangedError` as soon as the account is switched, even while
 * a wallet has not answered: many wallets never answer the question that they asked for the account of before.
 */
async function unlessSwitched<Result>(
  epoch: ReadonlySignal<number>,
  work: (guard: () => void) => Promise<Result>,
): Promise<Result> {
  const since = epoch.peek()
  const guard = (): void => {
    if (epoch.peek() !== since) throw new AccountChangedError()
  }
  let stop = (): void => undefined
  const switched = new Promise<never>((_resolve, reject) => {
    stop = epoch.subscribe((now) => {
      if (now !== since) reject(new AccountChangedError())
    })
  })
  try {
    return await Promise.race([work(guard), switched])
  } finally {
    stop()
  }
}

/** The error of an action that stands behind a problem which has its words already. */
export class ShownProblemError extends Error {
  override readonly name = 'ShownProblemError'
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.message)
    this.problem = problem
  }
}
