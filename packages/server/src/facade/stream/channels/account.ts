import type { Address, MicroUsd } from '@bezel/protocol'
import { UNMETERED } from '../../../access/weights.ts'
import { createLru } from '../../../ground/lru.ts'
import type { Subscription, Connection } from '../../../stream/channel.ts'
import { requireFresh } from '../../../journal/commits.ts'
import { coinsOf } from '../../coins.ts'
import type { FacadeReads } from '../../facadeReads.ts'
import { readActiveAssetData } from '../../info/activeAssetData.ts'
import { noClearinghouseState, readClearinghouseState } from '../../info/clearinghouseState.ts'
import { waitingOrders } from '../../info/frontendOpenOrders.ts'
import { isOtherDex, lower, MalformedInfoError, userOf } from '../../info/infoRequest.ts'
import { webData2Text, webUserState } from '../../info/webData2.ts'
import {
  channelText,
  requiredCoin,
  type FacadeChannel,
  type FacadeCounts,
  type FacadeStreamSources,
  type SubscriptionRequest,
} from './facadeChannel.ts'
import { quietChannel } from './quiet.ts'
import { setImmediate as nextTick } from 'node:timers/promises'
import { notReady } from '../../../ground/unavailable.ts'
import { createRefCounted } from '../../../ground/refCounted.ts'
import type { ChannelCounts } from '../../../stream/streamCounts.ts'
import { createTopic, type Topic } from '../../../stream/topics/topic.ts'
import { every } from '../../../ground/every.ts'
import { createSingleFlight, type SingleFlight } from '../../../ground/singleFlight.ts'
import { isProven } from '../../../trading/agentRecord.ts'

type AccountChannel =
  'clearinghouseState' | 'allDexsClearinghouseState' | 'openOrders' | 'webData2' | 'webData3' | 'activeAssetData'

/** Channels about a user's account and waiting orders. They share one cache of wallets. */
type AccountChannels = Readonly<Record<AccountChannel, FacadeChannel>> & { close(): void }

type ReadMessage = (user: Address, coin: string | undefined) => Promise<string>

/**
 * Interval of the account messages. Short, because a client that shares one subscription between two callers waits for
 * the next message.
 */
const STATE_REPEAT_MS = 5_000

/** Interval of `webData2`. Longer, because each message contains all markets. */
const WEB_DATA_REPEAT_MS = 10_000

/** Name of the main dex: builder-deployed ones have names, it has none. */
const MAIN_DEX = ''

const NO_ORDERS_ELSEWHERE = quietChannel((user, { dex }) =>
  channelText('openOrders', JSON.stringify({ dex, user, orders: [] })),
)

/** Refuses a builder-deployed dex where a message covers the main one only, or all. */
const NOTHING_ELSEWHERE: FacadeChannel = {
  parse() {
    throw new MalformedInfoError()
  },
}

/** Longest age of a cached wallet. A transfer that no event announces shows this much later. */
const MAX_AGE_MS = 30_000

/** Longest age of a cached wallet that is empty: anybody may subscribe to any address. */
const EMPTY_MAX_AGE_MS = 60_000

/** Number of cached wallets. Bounds memory; the oldest are dropped first. */
const MAX_KNOWN = 10_000

export function createAccountChannels(sources: FacadeStreamSources, counts: FacadeCounts): AccountChannels {
  const { reads, log } = sources
  const wallets = createCalmWallets(reads)
  // Subscribed before the channels, so that the cache is cleared when they read again.
  const stop = log.onAppend(wallets.forget)
  const calmReads = (): FacadeReads => ({ ...reads, wallet: wallets.wallet })

  const ordersText = async (user: Address, meter = UNMETERED): Promise<string> =>
    String((await waitingOrders({ user }, reads, meter)).bytes)

  const open = (name: AccountChannel, repeatMs: number | undefined, readNow: ReadMessage): UserValues => {
    const read: ReadMessage = async (user, coin) => {
      if (sources.commits !== undefined) requireFresh(sources.commits)
      return readNow(user, coin)
    }
    return createUserValues({ ...sources, counts: counts[name], repeatMs, read })
  }
  const states = open('clearinghouseState', STATE_REPEAT_MS, (user) => clearinghouseStateMessage(calmReads(), user))
  const orders = open('openOrders', undefined, async (user) => openOrdersMessage(user, await ordersText(user)))
  const all = open('allDexsClearinghouseState', STATE_REPEAT_MS, (user) => allDexsMessage(calmReads(), user))
  const pages = open('webData2', WEB_DATA_REPEAT_MS, async (user) =>
    channelText('webData2', await webData2Text(calmReads(), user, reads, await ordersText(user))),
  )
  const users = open('webData3', WEB_DATA_REPEAT_MS, async (user) => webData3Message(reads, user))
  const assets = open('activeAssetData', STATE_REPEAT_MS, (user, coin) =>
    activeAssetDataMessage(calmReads(), user, coin),
  )

  const requestOf = (values: UserValues, user: Address, coin?: string): SubscriptionRequest => ({
    key: coin === undefined ? user : `${user} ${coin}`,
    user,
    async open(connection, meter) {
      // Throws `NOT_READY` while not everything of the user is known. The others say nothing about what is open.
      if (values !== users && values !== assets) reads.positionsOf(user)
      // The waiting orders in these messages are charged here, and long lists of them kept for the first message.
      if (values === orders || values === pages) await ordersText(user, meter)
      return watched(sources, user, values.subscribe(connection, user, coin))
    },
  })
  const ofAccount = (values: UserValues, elsewhere: FacadeChannel): FacadeChannel => ({
    parse: (body) => (isOtherDex(body) ? elsewhere.parse(body) : requestOf(values, userOf(body))),
    close: values.close,
  })
  const channels: Readonly<Record<AccountChannel, FacadeChannel>> = {
    clearinghouseState: ofAccount(states, noStateElsewhere(reads)),
    openOrders: ofAccount(orders, NO_ORDERS_ELSEWHERE),
    allDexsClearinghouseState: ofAccount(all, NOTHING_ELSEWHERE),
    webData2: ofAccount(pages, NOTHING_ELSEWHERE),
    webData3: ofAccount(users, NOTHING_ELSEWHERE),
    activeAssetData: {
      parse(body) {
        const user = userOf(body)
        return requestOf(assets, user, requiredCoin(body, reads).name)
      },
      close: assets.close,
    },
  }
  return { ...channels, close: stop }
}

/** Creates the channel of an account in a builder-deployed dex: empty, because there are none. */
function noStateElsewhere(reads: FacadeReads): FacadeChannel {
  return quietChannel((user, { dex }) => {
    const state = { dex, user, clearinghouseState: noClearinghouseState(reads) }
    return channelText('clearinghouseState', JSON.stringify(state))
  })
}

/**
 * Keeps account data without events fresh while somebody is subscribed. Only for users with an agent that was in
 * force here, because anybody may subscribe to any address and register agents for it.
 */
function watched(
  { reads, watch }: Pick<FacadeStreamSources, 'reads' | 'watch'>,
  user: Address,
  subscription: Subscription,
): Subscription {
  let isOpen = true
  let unwatch = (): void => undefined
  async function watchKnown(): Promise<void> {
    const agents = await reads.registry.agentsOf(reads.chain, user)
    if (isOpen && agents.some(isProven)) unwatch = watch(user)
  }
  // Without the store the account is read when it is asked for, as those of unknown users are.
  watchKnown().catch(() => undefined)
  return {
    start: () => subscription.start(),
    close() {
      isOpen = false
      unwatch()
      subscription.close()
    },
  }
}

async function clearinghouseStateMessage(reads: FacadeReads, user: Address): Promise<string> {
  const state = await readClearinghouseState(user, reads)
  return channelText(
    'clearinghouseState',
    JSON.stringify({ dex: MAIN_DEX, user: lower(user), clearinghouseState: state }),
  )
}

async function allDexsMessage(reads: FacadeReads, user: Address): Promise<string> {
  const clearinghouseStates = [[MAIN_DEX, await readClearinghouseState(user, reads)]]
  return channelText('allDexsClearinghouseState', JSON.stringify({ user: lower(user), clearinghouseStates }))
}

function openOrdersMessage(user: Address, orders: string): string {
  return channelText('openOrders', `{"dex":"${MAIN_DEX}","user":"${lower(user)}","orders":${orders}}`)
}

async function activeAssetDataMessage(reads: FacadeReads, user: Address, name = ''): Promise<string> {
  const coin = coinsOf(reads.markets()).named(name)
  return channelText('activeAssetData', JSON.stringify(await readActiveAssetData({ user, coin }, reads)))
}

/** Returns the part of a page about the user, and the state of the one dex. */
async function webData3Message(reads: FacadeReads, user: Address): Promise<string> {
  const userState = { ...(await webUserState(reads, user)), abstraction: 'disabled' }
  const perpDexStates = [{ totalVaultEquity: '0.0', perpsAtOpenInterestCap: [], leadingVaults: [] }]
  return channelText('webData3', JSON.stringify({ userState, perpDexStates }))
}

/** A cache of wallets: repeated requests for one address do not reach the node each time. */
interface CalmWallets {
  readonly wallet: FacadeReads['wallet']
  /** Drops the cached wallet after an event of the account, so that the next caller reads it again. */
  forget(trader: Address): void
}

interface KnownWallet {
  readonly askedAtMs: number
  maxAgeMs: number
  readonly reading: Promise<MicroUsd>
}

function createCalmWallets({ wallet, now }: Pick<FacadeReads, 'wallet' | 'now'>): CalmWallets {
  const known = createLru<Address, KnownWallet>(MAX_KNOWN)
  return {
    async wallet(trader) {
      const before = known.get(trader)
      if (before !== undefined && now() - before.askedAtMs < before.maxAgeMs) return before.reading
      const asked: KnownWallet = { askedAtMs: now(), maxAgeMs: MAX_AGE_MS, reading: Promise.resolve(wallet(trader)) }
      known.set(trader, asked)
      asked.reading.then(
        (holds) => holds === 0n && (asked.maxAgeMs = EMPTY_MAX_AGE_MS),
        () => known.get(trader) === asked && known.delete(trader),
      )
      return asked.reading
    },
    forget: known.delete,
  }
}

/** Values of users, each read once for all sockets. Sent whole at the beginning and whenever they change. */
interface UserValues {
  /**
   * Subscribes a connection. `coin` is the name of the coin that the value is about; `undefined` for the whole account.
   */
  subscribe(connection: Connection, user: Address, coin: string | undefined): Subscription
  close(): void
}

interface UserValuesOptions extends Pick<FacadeStreamSources, 'log' | 'onError'> {
  /** Reads the whole message. */
  readonly read: (user: Address, coin: string | undefined) => Promise<string>
  readonly counts: ChannelCounts
  /**
   * Interval at which a value is read again, in addition to after events of its user; `undefined` for a value that
   * changes with events only.
   */
  readonly repeatMs: number | undefined
}

/** Number of values that are started without yielding to the event loop. */
const VALUES_AT_ONCE = 10

interface UserValue extends SingleFlight {
  readonly topic: Topic
  readonly user: Address
}

function createUserValues({ log, onError, read, counts, repeatMs }: UserValuesOptions): UserValues {
  const values = createRefCounted(open)
  let isClosed = false

  function open(key: string): UserValue {
    const [user, coin] = JSON.parse(key) as [Address, string?]
    let told: string | undefined
    const topic = createTopic({
      counts,
      snapshot() {
        if (told === undefined) throw notReady('starting')
        return told
      },
    })
    async function tell(): Promise<void> {
      const text = await read(user, coin)
      if (text === told) return
      told = text
      topic.publish(text)
    }
    const isOver = (): boolean => isClosed || values.get(key)?.topic !== topic
    return { topic, user, ask: createSingleFlight({ work: tell, isOver, onError }).ask }
  }

  /** Reads all values again, a few at a time, so that other work can run in between. */
  async function askAll(): Promise<void> {
    let asked = 0
    for (const value of values.items()) {
      value.ask()
      asked += 1
      if (asked % VALUES_AT_ONCE === 0) await nextTick()
    }
  }

  const repetition = repeatMs === undefined ? undefined : every(repeatMs, askAll)
  const stop = log.onAppend((trader) => {
    for (const value of values.items()) if (value.user === trader) value.ask()
  })
  return {
    subscribe(connection, user, coin) {
      const key = JSON.stringify(coin === undefined ? [user] : [user, coin])
      const isNew = values.get(key) === undefined
      const value = values.hold(key)
      if (isNew) value.ask()
      return value.topic.subscribe(connection, () => values.release(key))
    },
    close() {
      isClosed = true
      stop()
      void repetition?.close()
    },
  }
}
