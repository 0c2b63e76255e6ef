import { hash } from 'node:crypto'
import type { Address } from '@bezel/protocol'
import type { AccountLog } from './log/accountLog.ts'

/** An account as it is now, by the look of this order. */
export interface AccountState {
  readonly text: string
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
  readonly now: () => number
  readonly onFailure: (error: unknown) => void
}

/** The oldest go first; the log itself finds out that there is nothing new to tell of an account beyond it. */
const MAX_TOLD = 10_000

interface Told {
  readonly order: number
  /** Of the last text that the log took; `undefined` before that. */
  readonly textHash: string | undefined
}

interface Telling {
  /** What is to be told after the one on its way; only the newest matters. */
  next: string | undefined
  readonly done: Promise<void>
}

export function createAccountTeller({ log, now, onFailure }: AccountTellerOptions): AccountTeller {
  const told = new Map<Address, Told>()
  const tellings = new Map<Address, Telling>()

  function remember(trader: Address, entry: Told): void {
    told.delete(trader)
    told.set(trader, entry)
    const [oldest] = told.keys()
    if (told.size > MAX_TOLD && oldest !== undefined) told.delete(oldest)
  }

  async function tellLog(trader: Address, text: string): Promise<void> {
    const textHash = hash('sha256', text, 'base64url')
    if (told.get(trader)?.textHash === textHash) return
    try {
      await log.account(trader, { text, nowMs: now() })
      remember(trader, { order: told.get(trader)?.order ?? 0, textHash })
    } catch (error) {
      // It is not remembered as told, so the next look tries again.
      onFailure(error)
    }
  }

  async function tellAll(trader: Address, first: string): Promise<void> {
    for (let text: string | undefined = first; text !== undefined; text = takeNext(trader)) await tellLog(trader, text)
    tellings.delete(trader)
  }

  function takeNext(trader: Address): string | undefined {
    const telling = tellings.get(trader)
    const next = telling?.next
    if (telling !== undefined) telling.next = undefined
    return next
  }

  const isOutdated = (trader: Address, order: number): boolean => order < (told.get(trader)?.order ?? 0)

  return {
    isOutdated,
    async tell(trader, { text, order }) {
      const running = tellings.get(trader)
      if (isOutdated(trader, order)) return running?.done
      remember(trader, { order, textHash: told.get(trader)?.textHash })
      if (running !== undefined) {
        running.next = text
        return running.done
      }
      const done = tellAll(trader, text)
      tellings.set(trader, { next: undefined, done })
      return done
    },
    async idle() {
      await Promise.all([...tellings.values()].map(({ done }) => done))
    },
  }
}
