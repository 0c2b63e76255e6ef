import type { ChannelCounts } from '../../stream/streamCounts.ts'

/** Everything that can be subscribed to, by the name clients use. */
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
  'userFundings',
  'userNonFundingLedgerUpdates',
] as const

export type FacadeChannelName = (typeof FACADE_CHANNELS)[number]

/** Plain numbers, counted on every message and read at every scrape. */
export type FacadeCounts = Readonly<Record<FacadeChannelName, ChannelCounts>>

export function createFacadeCounts(): FacadeCounts {
  return Object.fromEntries(
    FACADE_CHANNELS.map((channel) => [channel, { subscriptions: 0, sent: 0, snapshots: 0 }]),
  ) as unknown as FacadeCounts
}
