import type { Address } from '@bezel/protocol'
import type { Subscription } from '../../stream/channel.ts'
import type { Connection } from '../../stream/connection.ts'
import { coinsOf, type Coin } from '../coins.ts'
import { isFacadeInterval } from '../info/candleIntervals.ts'
import { noClearinghouseState } from '../info/clearinghouseState.ts'
import { coinNameOf, isOtherDex, lower, userOf, type InfoRequest } from '../info/infoRequest.ts'
import { MalformedInfoError } from '../info/malformedInfo.ts'
import { priceStep } from '../info/priceStep.ts'
import { subscribeUserEvents } from './channels/userEvents.ts'
import { subscribeUserFills } from './channels/userFills.ts'
import type { FacadeChannelName } from './facadeCounts.ts'
import type { FacadeChannels } from './facadeChannels.ts'
import { channelText } from './facadeTexts.ts'

/** What a client wants to listen to. */
export interface Wanted {
  /** What makes it another one than those a socket has already; without what changes nothing. */
  readonly key: string
  readonly user?: Address
  readonly open: (connection: Connection) => Subscription | Promise<Subscription>
}

/** Reads a subscription of one name. Throws `MalformedInfoError`, and `NOT_READY` while there are no markets. */
type WantedOf = (request: InfoRequest, channels: FacadeChannels) => Wanted

const ofCoin =
  (name: 'bbo' | 'activeAssetCtx'): WantedOf =>
  (request, channels) => {
    const coin = namedCoin(request, channels)
    const of = { coin: coin.name }
    return { key: coin.name, open: (connection) => channels[name].subscribe(connection, coin.pairIndex, of) }
  }

const ofAccount =
  (name: 'clearinghouseState' | 'openOrders' | 'webData2', elsewhere: WantedOf): WantedOf =>
  (request, channels) => {
    if (isOtherDex(request)) return elsewhere(request, channels)
    const user = userOf(request)
    return { key: user, user, open: watched(channels, user, (to) => channels.account[name].subscribe(to, user, {})) }
  }

/** Where there is nothing to tell but that. `textOf`: the only message. */
const quiet =
  (textOf: (request: InfoRequest, user: Address, channels: FacadeChannels) => string | undefined): WantedOf =>
  (request, channels) => {
    const user = userOf(request)
    const open = (connection: Connection): Subscription => saidOnce(connection, textOf(request, user, channels))
    return { key: `${user} ${String(request.dex ?? '')}`, user, open }
  }

/** Every subscription, by its name. */
export const SUBSCRIPTIONS: Readonly<Record<FacadeChannelName, WantedOf>> = {
  allMids(request, channels) {
    if (isOtherDex(request)) return elsewhereMids(request)
    channels.reads.markets()
    return { key: '', open: (connection) => channels.allMids.subscribe(connection) }
  },
  l2Book(request, channels) {
    const coin = namedCoin(request, channels)
    priceStep(request)
    const of = { coin: coin.name, nSigFigs: request.nSigFigs ?? null, mantissa: request.mantissa ?? null }
    return {
      key: JSON.stringify(of),
      open: (connection) => channels.l2Book.subscribe(connection, coin.pairIndex, of),
    }
  },
  bbo: ofCoin('bbo'),
  activeAssetCtx: ofCoin('activeAssetCtx'),
  trades(request, channels) {
    const coin = namedCoin(request, channels)
    return { key: coin.name, open: (connection) => channels.trades.subscribe(connection, coin) }
  },
  candle(request, channels) {
    const { interval } = request
    if (!isFacadeInterval(interval)) throw new MalformedInfoError()
    const coin = namedCoin(request, channels)
    return {
      key: `${coin.name} ${interval}`,
      open: (connection) => channels.candle.subscribe(connection, coin, interval),
    }
  },
  orderUpdates(request, channels) {
    const user = userOf(request)
    return {
      key: user,
      user,
      open: (connection) => channels.orders.subscribe(user, (tale, onClose) => tale.subscribe(connection, onClose)),
    }
  },
  userEvents(request, channels) {
    const user = userOf(request)
    const counts = channels.counts.userEvents
    return {
      key: user,
      user,
      open: (connection) =>
        channels.fills.subscribe(user, (tale, onClose) => subscribeUserEvents(tale, connection, { onClose, counts })),
    }
  },
  userFills(request, channels) {
    const user = userOf(request)
    const of = { onError: channels.onError, counts: channels.counts.userFills }
    return {
      key: user,
      user,
      open: (connection) =>
        channels.fills.subscribe(user, (tale, onClose) => subscribeUserFills(tale, connection, { ...of, onClose })),
    }
  },
  clearinghouseState: ofAccount(
    'clearinghouseState',
    quiet(({ dex }, user, { reads }) => {
      const clearinghouseState = noClearinghouseState({}, reads)
      return channelText('clearinghouseState', JSON.stringify({ dex, user: lower(user), clearinghouseState }))
    }),
  ),
  openOrders: ofAccount(
    'openOrders',
    quiet(({ dex }, user) => channelText('openOrders', JSON.stringify({ dex, user: lower(user), orders: [] }))),
  ),
  webData2: ofAccount('webData2', () => {
    throw new MalformedInfoError()
  }),
  activeAssetData(request, channels) {
    const user = userOf(request)
    const coin = namedCoin(request, channels)
    const of = { coin: coin.name }
    return {
      key: `${user} ${coin.name}`,
      user,
      open: watched(channels, user, (to) => channels.account.activeAssetData.subscribe(to, user, of)),
    }
  },
  spotState: quiet((_request, user) =>
    channelText('spotState', JSON.stringify({ user: lower(user), spotState: { balances: [] } })),
  ),
  notification: quiet(() => undefined),
  userFundings: quiet((_request, user) =>
    channelText('userFundings', JSON.stringify({ isSnapshot: true, user: lower(user), fundings: [] })),
  ),
  userNonFundingLedgerUpdates: quiet((_request, user) =>
    channelText(
      'userNonFundingLedgerUpdates',
      JSON.stringify({ isSnapshot: true, user: lower(user), nonFundingLedgerUpdates: [] }),
    ),
  ),
}

function namedCoin(request: InfoRequest, { reads }: FacadeChannels): Coin {
  const coin = coinsOf(reads.markets()).named(coinNameOf(request))
  if (coin === undefined) throw new MalformedInfoError()
  return coin
}

/** Of an exchange within the exchange: there are none. */
function elsewhereMids({ dex }: InfoRequest): Wanted {
  return {
    key: String(dex),
    open: (connection) => saidOnce(connection, channelText('allMids', JSON.stringify({ dex, mids: {} }))),
  }
}

function saidOnce(connection: Connection, text: string | undefined): Subscription {
  return {
    start() {
      if (text !== undefined) connection.send(text)
    },
    close: () => undefined,
  }
}

function watched(
  channels: FacadeChannels,
  user: Address,
  open: (connection: Connection) => Subscription,
): (connection: Connection) => Subscription {
  return (connection) => {
    const subscription = open(connection)
    const unwatch = channels.watch(user)
    return {
      start: () => subscription.start(),
      close() {
        unwatch()
        subscription.close()
      },
    }
  }
}
