import type {
  Account,
  AccountEvent,
  Agent,
  BezelClient,
  FillHistoryEntry,
  LogChange,
  Notification,
  Order,
  Position,
} from '@bezel/sdk'
import { computed, effect, signal, untracked, type ReadonlySignal } from '@preact/signals'
import { pushToast } from '../ui/toasts.ts'
import { createAccountState } from './accountState.ts'
import { followAccount } from './followAccount.ts'
import { accountClient, identity, refusedKey } from './client.ts'
import { waitMs } from './follow.ts'
import { connection, connectionWatch } from './live.ts'
import { readStored, tabStore, writeStored } from './storage.ts'
import { composeTimeline, type OrderStep, type SentNote } from './timeline.ts'

const state = createAccountState()
const history = signal<readonly FillHistoryEntry[] | null>(null)
const notices = signal<readonly Notification[] | null>(null)
const problem = signal<unknown>(null)

/** The wallet of the trader: balances, allowances, agents; null until it is known. */
export const account: ReadonlySignal<Account | null> = state.account
/** All open positions, oldest first; null until they are known. Mark them to market with `priceOf`. */
export const positions: ReadonlySignal<readonly Position[] | null> = state.positions
/** Orders that are prepared, pending, open or timed out, newest first; null until they are known. */
export const openOrders: ReadonlySignal<readonly Order[] | null> = state.openOrders
/** Orders of any state that this page has seen, newest first: the open ones and those that ended lately. */
export const recentOrders: ReadonlySignal<readonly Order[] | null> = state.recentOrders
/** The last 50 executions with profit and fees, newest first; null until they are known. */
export const fills: ReadonlySignal<readonly FillHistoryEntry[] | null> = history
/** Agents of the trader; null until they are known. */
export const agents: ReadonlySignal<readonly Agent[] | null> = computed(() => state.account.value?.agents ?? null)
/** Active notifications, newest first; null until they are known. */
export const notifications: ReadonlySignal<readonly Notification[] | null> = notices
/** The last 500 events of the account's log, oldest first. `reverted` ones come from a reorganisation. */
export const events: ReadonlySignal<readonly AccountEvent[]> = state.events
/** The error that keeps the account away; null while all is well. */
export const accountProblem: ReadonlySignal<unknown> = problem

/** Returns an order that this page has seen; undefined when it has not. Reads the signal. */
export function orderOf(orderId: string): Order | undefined {
  return recentOrders.value?.find(({ id }) => id === orderId)
}

const SENT = 'sent'
const MAX_SENT = 50
const sentNotes = signal(readStored(tabStore, SENT) as Readonly<Record<string, SentNote>> | null)

/** Notes the transaction of an order that this page sent, for its timeline. */
export function noteSent(orderId: string, note: SentNote): void {
  const all = Object.entries({ ...sentNotes.peek(), [orderId]: note })
  sentNotes.value = Object.fromEntries(all.slice(-MAX_SENT))
  writeStored(tabStore, SENT, sentNotes.value)
}

/** Returns the steps of an order, oldest first; of an order that this page has not seen, none. */
export function timelineOf(orderId: string): ReadonlySignal<readonly OrderStep[]> {
  return computed(() => {
    const order = orderOf(orderId)
    return order === undefined ? [] : composeTimeline({ order, events: events.value, sent: sentNotes.value?.[orderId] })
  })
}

/** Dismisses a notification here and at the service. Throws what the SDK throws, and shows it again then. */
export async function dismissNotification(id: number): Promise<void> {
  const before = notices.peek()
  notices.value = before?.filter((notice) => notice.id !== id) ?? null
  try {
    await accountClient.peek()?.notifications.dismiss(id)
  } catch (error) {
    notices.value = before
    throw error
  }
}

const NOTICE_POLL_MS = 5_000
const MAX_FILLS = 50

/** Starts to follow the account of who is signed in. Returns how to stop. */
export function startAccount(): () => void {
  return effect(() => {
    const client = accountClient.value
    untracked(clear)
    if (client === null) return
    const stopping = new AbortController()
    untracked(() => run(client, stopping.signal))
    return () => {
      stopping.abort()
      connectionWatch.forget('account ')
    }
  })
}

function clear(): void {
  state.clear()
  history.value = null
  notices.value = null
  problem.value = null
}

/** Follows one account until the signal is aborted. */
function run(client: BezelClient, ended: AbortSignal): void {
  const apiKey = identity.peek()?.apiKey ?? null
  const readFills = renewed(
    () => client.account.fills({ limit: MAX_FILLS }),
    ({ data }) => (history.value = data),
    ended,
  )
  const readNotices = renewed(
    () => client.notifications.list(),
    (list) => (notices.value = list),
    ended,
  )
  void followAccount(client, {
    signal: ended,
    onPast: state.takePast,
    onStatus: (name, status) => connectionWatch.status(`account ${name}`, status),
    onRefused: () => (refusedKey.value = apiKey),
    onProblem: (error) => (problem.value = error),
    onEvent(event) {
      state.take(event)
      if (event.channel === 'fills') readFills()
      if (event.channel === 'positions' && !event.snapshot) readFills()
      if (!event.snapshot) readNotices()
      if (event.reverted && !event.snapshot) tellReverted(event)
    },
  })
  void pollNotices(readNotices, ended)
}

async function pollNotices(read: () => void, ended: AbortSignal): Promise<void> {
  for (; !ended.aborted; await waitMs(NOTICE_POLL_MS, ended)) if (connection.peek().state !== 'down') read()
}

/** Shows that a reorganisation changed the past; of several events of one, the last that says something of an order. */
function tellReverted(event: LogChange): void {
  const body = revertedWords(event)
  if (body !== null)
    pushToast({ tone: 'warn', key: `reorganised-${event.block ?? 0}`, title: 'Chain reorganised', body })
}

/**
 * Returns a sentence about an event of a reorganisation; null when another event of it says more. An order comes with
 * fills, positions and an account that say the same.
 */
function revertedWords(event: LogChange): string | null {
  if (event.channel !== 'orders') return null
  const { id, market, status } = event.data
  const now = status === 'expired' ? 'gone' : `${status.replace('_', ' ')} again`
  return `The last blocks were replaced. Order ${id} in ${market} is ${now}; what you see is what holds now.`
}

/** Returns a function that reads anew: at once, or right after the read that is under way. */
function renewed<Value>(read: () => Promise<Value>, take: (value: Value) => void, ended: AbortSignal): () => void {
  let isRunning = false
  let isWanted = false
  async function renew(): Promise<void> {
    isRunning = true
    for (isWanted = true; isWanted && !ended.aborted;) {
      isWanted = false
      const value = await read().catch(() => undefined)
      if (value !== undefined && !ended.aborted) take(value)
    }
    isRunning = false
  }
  return () => {
    isWanted = true
    if (!isRunning) void renew()
  }
}
