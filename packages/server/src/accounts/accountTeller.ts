import { hash } from 'node:crypto'
import type { Address } from '@bezel/protocol'
import { createLru } from '../ground/lru.ts'
import type { AccountLog, AccountNow } from '../journal/accountLog.ts'

/** An account's state, with the sequence number of the read that found it. */
interface AccountState extends AccountNow {
  readonly order: number
}

/**
 * Writes accounts to their logs whenever they may have changed: one state after the other for each account, and never
 * one that is older than a state already written.
 */
export interface AccountTeller {
  /**
   * Resolves when this state or a newer one was written, or could not be: a failed write must not fail a request that
   * only reads.
   */
  tell(trader: Address, state: AccountState): Promise<void>
  /** Forgets what the log has of a trader, because another node may have written to it. */
  forget(trader: Address): void
  /** Returns true when the result of a later read was already passed to `tell`. */
  isOutdated(trader: Address, order: number): boolean
  /** Resolves when no write is under way. */
  idle(): Promise<void>
}

interface AccountTellerOptions {
  readonly log: Pick<AccountLog, 'account'>
  readonly onFailure: (error: unknown) => void
}

/** The number of accounts kept in memory. For any further account the log itself notices that nothing has changed. */
const MAX_TOLD = 10_000

interface Told {
  readonly order: number
  /** SHA-256 of the last holdings that the log accepted; `undefined` before the first. */
  readonly holdingsHash: string | undefined
}

interface Telling {
  /** The state to write after the one under way. Only the newest is kept. */
  next: AccountNow | undefined
  readonly done: Promise<void>
}

export function createAccountTeller({ log, onFailure }: AccountTellerOptions): AccountTeller {
  const told = createLru<Address, Told>(MAX_TOLD)
  const tellings = new Map<Address, Telling>()
  /** Number of calls of `forget`. What is written meanwhile may not be the last that the log has. */
  let forgets = 0

  async function tellLog(trader: Address, account: AccountNow): Promise<void> {
    const holdingsHash = hash('sha256', account.holdings, 'base64url')
    if (told.get(trader)?.holdingsHash === holdingsHash) return
    const before = forgets
    try {
      const outcome = await log.account(trader, account)
      // What was too old for the log is read and tried again.
      if (outcome === 'older' || before !== forgets) return
      told.set(trader, { order: told.get(trader)?.order ?? 0, holdingsHash })
    } catch (error) {
      // The hash is not stored, so the next read tries to write again.
      onFailure(error)
    }
  }

  async function tellAll(trader: Address, first: AccountNow): Promise<void> {
    let account: AccountNow | undefined = first
    for (; account !== undefined; account = takeNext(trader)) await tellLog(trader, account)
    tellings.delete(trader)
  }

  function takeNext(trader: Address): AccountNow | undefined {
    const telling = tellings.get(trader)
    const next = telling?.next
    if (telling !== undefined) telling.next = undefined
    return next
  }

  const isOutdated = (trader: Address, order: number): boolean => order < (told.get(trader)?.order ?? 0)

  return {
    isOutdated,
    forget(trader) {
      forgets += 1
      const known = told.peek(trader)
      if (known !== undefined) told.set(trader, { ...known, holdingsHash: undefined })
    },
    async tell(trader, { order, ...account }) {
      const running = tellings.get(trader)
      if (isOutdated(trader, order)) return running?.done
      told.set(trader, { order, holdingsHash: told.get(trader)?.holdingsHash })
      if (running !== undefined) {
        running.next = account
        return running.done
      }
      const done = tellAll(trader, account)
      tellings.set(trader, { next: undefined, done })
      return done
    },
    async idle() {
      await Promise.all([...tellings.values()].map(({ done }) => done))
    },
  }
}
