import type { RowMeter } from '../../../access/weights.ts'
import type { ChannelCounts } from '../../../stream/streamCounts.ts'
import type { Address } from '@bezel/protocol'
import type { AccountLog } from '../../../journal/accountLog.ts'
import type { ChainCommits } from '../../../journal/commits.ts'
import type { Feed } from '../../../market/feed/feed.ts'
import type { CandleSource, TradeSource } from '../../../stream/topics/publicSources.ts'
import type { TimeSliced } from '../../../ground/timeSliced.ts'
import type { Subscription, Connection } from '../../../stream/channel.ts'
import { coinsOf, type Coin } from '../../coins.ts'
import type { FacadeReads } from '../../facadeReads.ts'
import { coinNameOf, MalformedInfoError, type InfoBody } from '../../info/infoRequest.ts'

/** The sources that one chain's facade channels are made from. */
export interface FacadeStreamSources {
  readonly reads: FacadeReads
  readonly feed: Pick<Feed, 'onTick'>
  readonly candles: Pick<CandleSource, 'onChange' | 'onRepaired'>
  readonly trades: Pick<TradeSource, 'onTrades' | 'onTakenBack'>
  readonly log: Pick<AccountLog, 'lastSeq' | 'read' | 'onAppend'>
  /** The commits of all nodes, which what is told of users must include; `undefined` where there are no others. */
  readonly commits?: Pick<ChainCommits, 'settled' | 'isReloading' | 'ageMs'> | undefined
  /** Polls the data of a trader that changes without an event, until the returned function is called. */
  readonly watch: (trader: Address) => () => void
  /** Runs reads of the store in slices of time. Shared by all chains of a process. */
  readonly turns: TimeSliced
  /** Called when something could not be read; it is tried again. */
  readonly onError: (error: unknown) => void
}

/** Every channel of the facade, by the name clients use. `createFacadeChannels` shows where each one is created. */
export const FACADE_CHANNELS = [
  'allMids',
  'l2Book',
  'bbo',
  'trades',
  'candle',
  'activeAssetCtx',
  'orderUpdates',
  'userFills',
  'userEvents',
  'clearinghouseState',
  'openOrders',
  'webData2',
  'activeAssetData',
  'spotState',
  'notification',
  'assetCtxs',
  'allDexsAssetCtxs',
  'fastAssetCtxs',
  'spotAssetCtxs',
  'outcomeMetaUpdates',
  'allDexsClearinghouseState',
  'webData3',
  'userHistoricalOrders',
  'twapStates',
  'userTwapHistory',
  'userTwapSliceFills',
  'userFundings',
  'userNonFundingLedgerUpdates',
] as const

export type FacadeChannelName = (typeof FACADE_CHANNELS)[number]

export function isFacadeChannel(name: unknown): name is FacadeChannelName {
  return FACADE_CHANNELS.some((known) => known === name)
}

/** Counters by channel: plain numbers, increased with every message and read at every scrape. */
export type FacadeCounts = Readonly<Record<FacadeChannelName, ChannelCounts>>

export function createFacadeCounts(): FacadeCounts {
  return Object.fromEntries(
    FACADE_CHANNELS.map((channel) => [channel, { subscriptions: 0, sent: 0, snapshots: 0 }]),
  ) as Record<FacadeChannelName, ChannelCounts>
}

/** One channel of one chain's facade. */
export interface FacadeChannel {
  /** Parses a subscription. Throws `MalformedInfoError`, and `NOT_READY` until the markets have been read. */
  parse(body: InfoBody): SubscriptionRequest
  /** Stops listening to the sources. Absent where there is nothing to stop. */
  close?(): void
}

/** A checked subscription of a client, not open yet. */
export interface SubscriptionRequest {
  /**
   * Identifies the subscription among those to the same channel on a socket. Contains only the fields that change the
   * messages.
   */
  readonly key: string
  readonly user?: Address
  /** Opens it. The rows of a snapshot that is a long list are counted on the meter. */
  readonly open: (connection: Connection, meter: RowMeter) => Subscription | Promise<Subscription>
}

/** Returns a message of a channel. `data` is JSON. */
export function channelText(channel: string, data: string): string {
  return `{"channel":"${channel}","data":${data}}`
}

/** Finds the coin that a subscription names. Throws `MalformedInfoError` for an unknown one. */
export function requiredCoin(body: InfoBody, reads: FacadeReads): Coin {
  const coin = coinsOf(reads.markets()).named(coinNameOf(body))
  if (coin === undefined) throw new MalformedInfoError()
  return coin
}

/** Returns a subscription that sends one message, or none. */
export function sendOnce(connection: Connection, text: string | undefined): Subscription {
  return {
    start() {
      if (text !== undefined) connection.send(text)
    },
    close: () => undefined,
  }
}
