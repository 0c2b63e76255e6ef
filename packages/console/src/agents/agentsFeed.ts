import { tradingInteractionsAbi } from '@bezel/protocol/wire'
import type { Agent, Spend, TransactionSender } from '@bezel/sdk'
import { computed, effect, signal, untracked, type ReadonlySignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { decodeFunctionResult, encodeFunctionData, zeroAddress } from 'viem'
import { agents as accountAgents, events } from '../data/account.ts'
import { chainInfo } from '../data/chain.ts'
import { accountClient, publicClient } from '../data/client.ts'
import { marketOf, markets, priceOf } from '../data/markets.ts'
import { walletSender } from '../session/sender.ts'
import { epoch, session } from '../session/session.ts'
import type { ChainDelegate } from './agentStatus.ts'
import { probeOrder } from './spendBar.ts'

// The log of an account has no event for a change of its agents alone, and none for a spend. So both are read again and
// again while the view is open.

/** Pause between two reads while the view is open. */
const POLL_MS = 3_000

/** Pause after an event of the account before everything is read again. */
const EVENT_PAUSE_MS = 300

/** Reads between two looks at the spends, which take a request for each agent. */
const SPEND_EVERY = 4

/** Most agents whose spend is read. */
const MAX_SPENDS = 10

const read = signal<readonly Agent[] | null>(null)
const delegateNow = signal<ChainDelegate>(undefined)
const spendsNow = signal<ReadonlyMap<string, Spend>>(new Map())
const relayerNow = signal<string | null | undefined>(undefined)

/** Agents of the trader, also those that have ended; null until they are known. */
export const agentList: ReadonlySignal<readonly Agent[] | null> = computed(() => read.value ?? accountAgents.value)

/** The trader's delegate by the word of the chain. */
export const chainDelegate: ReadonlySignal<ChainDelegate> = delegateNow

/** Spends of the day by the address of the agent, of agents with a cap. */
export const spends: ReadonlySignal<ReadonlyMap<string, Spend>> = spendsNow

/** Address of the relayer of the chain; null where there is none. */
export const relayer: ReadonlySignal<string | null> = computed(() => relayerNow.value ?? null)

/** Keeps agents, delegate and spends up to date while a component is mounted. */
export function useAgentsFeed(): void {
  useEffect(() => {
    let rounds = 0
    const renew = (): void => void renewAgents({ withSpends: rounds++ % SPEND_EVERY === 0 }).catch(() => undefined)
    const timer = setInterval(() => {
      if (!document.hidden) renew()
    }, POLL_MS)
    const stop = effect(() => {
      // Another account or chain begins anew; whatever happens to this one may have changed its spend.
      void [accountClient.value, epoch.value]
      untracked(forget)
      rounds = 0
      untracked(renew)
    })
    let soon: ReturnType<typeof setTimeout> | undefined
    const stopEvents = effect(() => {
      if (events.value.length === 0) return
      rounds = 0
      // Events come in bursts, and one read after the last of them is enough.
      clearTimeout(soon)
      soon = setTimeout(renew, EVENT_PAUSE_MS)
    })
    return () => {
      clearInterval(timer)
      clearTimeout(soon)
      stop()
      stopEvents()
    }
  }, [])
}

/** Reads agents and delegate now, and the spends if they are wanted. Answers of an account of before are dropped. */
export async function renewAgents({ withSpends = false }: { readonly withSpends?: boolean } = {}): Promise<void> {
  const client = accountClient.peek()
  if (client === null) return
  const [{ agents }, delegate] = await Promise.all([client.account.get(), readDelegate()])
  if (accountClient.peek() !== client) return
  read.value = agents
  delegateNow.value = delegate
  if (relayerNow.peek() === undefined) relayerNow.value = (await publicClient.peek().info()).relayer
  if (withSpends) await readSpends(agents)
}

function forget(): void {
  read.value = null
  delegateNow.value = undefined
  spendsNow.value = new Map()
  relayerNow.value = undefined
}

/** Reads who may trade for the connected wallet on the chain. `undefined` when its node does not tell. */
export async function readDelegate(): Promise<ChainDelegate> {
  const who = session.peek()
  const diamond = chainInfo.peek()?.diamond
  if (who.kind !== 'connected' || !who.isRightChain || diamond === undefined) return undefined
  try {
    return await askDelegate(walletSender(), diamond, who.address)
  } catch {
    return undefined
  }
}

async function askDelegate(
  { call }: TransactionSender,
  diamond: `0x${string}`,
  trader: `0x${string}`,
): Promise<ChainDelegate> {
  if (call === undefined) return undefined
  const view = { abi: tradingInteractionsAbi, functionName: 'getTradingDelegate' } as const
  const data = await call(diamond, encodeFunctionData({ ...view, args: [trader] }))
  const delegate = decodeFunctionResult({ ...view, data })
  return delegate === zeroAddress ? null : delegate
}

/** Reads the spend of each agent in use that has a cap, by a preview that names the agent. */
async function readSpends(agents: readonly Agent[]): Promise<void> {
  const client = accountClient.peek()
  const order = probe()
  if (client === null || order === undefined) return
  const capped = agents.filter(({ status, scope }) => status !== 'revoked' && scope.dailySpendCapUsd !== null)
  const found = await Promise.allSettled(
    capped.slice(0, MAX_SPENDS).map(async ({ agent }) => (await client.preview.order(order, { agent })).spend),
  )
  if (accountClient.peek() !== client) return
  const told = found.flatMap((outcome) =>
    outcome.status === 'fulfilled' && outcome.value !== null ? [outcome.value] : [],
  )
  // A preview that failed leaves the last known spend.
  spendsNow.value = new Map([...spendsNow.peek(), ...told.map((spend) => [spend.agent, spend] as const)])
}

function probe(): ReturnType<typeof probeOrder> {
  const market = marketOf('BTC/USD') ?? markets.peek()?.find(({ isOpen }) => isOpen)
  const mark = market === undefined ? undefined : priceOf(market.symbol).peek()?.mark
  return market === undefined || mark === undefined ? undefined : probeOrder(market, mark)
}
