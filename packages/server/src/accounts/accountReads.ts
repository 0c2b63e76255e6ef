import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { Address } from '@bezel/protocol'
import type { ChainAgents } from '../agents/chainAgents.ts'
import type { ListedCollateral } from '../trading/market/chainMarkets.ts'
import { notReady } from '../ground/notReady.ts'
import { accountAnswer } from './accountAnswer.ts'
import { createAccountTeller } from './accountTeller.ts'
import { createHoldingsCache, type Look } from './holdingsCache.ts'
import type { AccountLog } from '../journal/accountLog.ts'
import { readHoldings, UnreadableAccountError, type Holdings } from './readHoldings.ts'

/** Reads accounts of one chain. Whatever is found is told to their logs before it is shown. */
export interface AccountReads {
  /** As JSON, at most as old as the setting. Throws `NodeUnavailableError` and `NOT_READY`. */
  text(trader: Address): Promise<string>
  /** Of anybody, as old as `text` is; its log is not told. Throws as `text` does. */
  holdings(trader: Address): Holdings | Promise<Holdings>
  /** Reads all of these again, in one round trip. Throws `NodeUnavailableError` when the node seems to be the reason that none could be read. */
  refresh(traders: readonly Address[]): Promise<void>
  /** Something happened to this account, so the next one reads again. */
  forget(trader: Address): void
  /** Resolves when nothing is on its way to a log. */
  idle(): Promise<void>
}

export interface AccountReadsOptions {
  readonly agents: Pick<ChainAgents, 'chain' | 'client' | 'relayer' | 'registry' | 'delegates'>
  /** `undefined` until they are read. */
  readonly collaterals: () => readonly ListedCollateral[] | undefined
  readonly log: Pick<AccountLog, 'account'>
  readonly maxAgeMs: number
  readonly now: () => number
  /** Something failed in the background; an account or the log will be tried again. */
  readonly onFailure: (error: unknown) => void
}

export function createAccountReads(options: AccountReadsOptions): AccountReads {
  const { agents, now, onFailure } = options
  const { delegates } = agents
  const cache = createHoldingsCache(options)
  const teller = createAccountTeller(options)
  let asked = 0

  function look(traders: readonly Address[], collaterals: readonly ListedCollateral[]): Promise<Look>[] {
    const order = (asked += 1)
    const askedAtMs = now()
    const answers = readHoldings(agents.client, agents.chain, collaterals, traders)
    return traders.map(async (trader, at) => {
      const holdings = (await answers)[at]!
      if (holdings instanceof UnreadableAccountError) throw holdings
      delegates.learn(trader, holdings.delegate, askedAtMs)
      return { order, holdings }
    })
  }

  function cachedLook(trader: Address): Look | Promise<Look> {
    return cache.get(trader, async () => {
      const collaterals = options.collaterals()
      if (collaterals === undefined) throw notReady('starting')
      return look([trader], collaterals)[0]!
    })
  }

  async function tell(trader: Address, { holdings, order }: Look): Promise<string> {
    const text = JSON.stringify(accountAnswer(agents, trader, holdings, now()))
    await teller.tell(trader, { holdings: JSON.stringify(holdings), text, order })
    return text
  }

  return {
    forget: cache.forget,
    idle: teller.idle,
    holdings(trader) {
      const found = cachedLook(trader)
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
      // One that alone can't be read must not take the others' turn.
      if (traders.length === 1 && failures[0] instanceof UnreadableAccountError) return
      throw new NodeUnavailableError('no account could be read', { cause: failures[0] })
    },
  }
}

async function failuresOf(works: readonly Promise<unknown>[]): Promise<unknown[]> {
  const outcomes = await Promise.allSettled(works)
  return outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
}
