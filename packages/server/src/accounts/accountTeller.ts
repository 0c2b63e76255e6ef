import { hash } from 'node:crypto'
import type { Address } from '@bezel/protocol'
import type { AccountLog, AccountNow } from '../journal/accountLog.ts'

/** An account as it is now, by the look of this order. */
export interface AccountState extends AccountNow {
  readonly order: number
}

/** Tells the log what an account is whenever that may have changed: each account one state after the other, and none that is outdated. */
export interface AccountTeller {
  /** Resolves when this state or a newer one was told, or could not be: whoever only reads must not suffer from that. */
  tell(trader: Address, state: AccountState): Promise<void>
  /** Whether a newer look than this one was told already. */
  isOutdated(trader: Address, order: number): boolean
  /** Resolves when nothing is on its way. */
  idle(): Promise<void>
}

export interface AccountTellerOptions {
  readonly log: Pick<AccountLog, 'account'>
  readonly onFailure: (error: unknown) => void
}

/** The oldest go first; the log itself finds out that there is nothing new to tell of an account beyond it. */
const MAX_TOLD = 10_000

interface Told {
  readonly order: number
  /** Of the last holdings that the log took; `undefined` before that. */
  readonly holdingsHash: string | undefined
}

interface Telling {
  /** What is to be told after the one on its way; only the newest matters. */
  next: AccountNow | undefined
  readonly done: Promise<void>
}

export function createAccountTeller({ log, onFailure }: AccountTellerOptions): AccountTeller {
  const told = new Map<Address, Told>()
  const tellings = new Map<Address, Telling>()

  function remember(trader: Address, entry: Told): void {
    told.delete(trader)
    told.set(trader, entry)
    const [oldest] = told.keys()
    if (told.size > MAX_TOLD && oldest !== undefined) told.delete(oldest)
  }

  async function tellLog(trader: Address, account: AccountNow): Promise<void> {
    const holdingsHash = hash('sha256', account.holdings, 'base64url')
    if (told.get(trader)?.holdingsHash === holdingsHash) return
    try {
      await log.account(trader, account)
      remember(trader, { order: told.get(trader)?.order ?? 0, holdingsHash })
    } catch (error) {
      // It is not remembered as told, so the next look tries again.
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
    async tell(trader, { order, ...account }) {
      const running = tellings.get(trader)
      if (isOutdated(trader, order)) return running?.done
      remember(trader, { order, holdingsHash: told.get(trader)?.holdingsHash })
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
