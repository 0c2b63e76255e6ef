import type { FacadeReads } from '../facadeReads.ts'
import { createAccountChannels } from './channels/account.ts'
import { createActiveAssetCtx } from './channels/activeAssetCtx.ts'
import { createAllMids } from './channels/allMids.ts'
import { createCandle } from './channels/candle.ts'
import type { FacadeChannel, FacadeChannelName, FacadeCounts, FacadeStreamSources } from './channels/facadeChannel.ts'
import { createFillReaders } from './channels/fillReader.ts'
import { createBbo, createL2Book } from './channels/l2Book.ts'
import { createOrderUpdates } from './channels/orderUpdates.ts'
import { QUIET_CHANNELS } from './channels/quiet.ts'
import { createTrades } from './channels/trades.ts'
import { createUserEvents } from './channels/userEvents.ts'
import { createUserFills } from './channels/userFills.ts'

/** All channels of one chain's facade. */
export interface FacadeChannels {
  readonly reads: FacadeReads
  readonly byName: Readonly<Record<FacadeChannelName, FacadeChannel>>
  close(): void
}

/**
 * Creates every channel. Each is in the file of its name, except `bbo`, which is with the book, four in `account` and
 * four in `quiet`.
 */
export function createFacadeChannels(sources: FacadeStreamSources, counts: FacadeCounts): FacadeChannels {
  // Channels hear of a log's new events in the order in which they are created: an order is sent before its executions,
  // and both before the account.
  const orderUpdates = createOrderUpdates(sources, counts.orderUpdates)
  const fills = createFillReaders(sources)
  const account = createAccountChannels(sources, counts)
  const byName: FacadeChannels['byName'] = {
    allMids: createAllMids(sources, counts.allMids),
    l2Book: createL2Book(sources, counts.l2Book),
    bbo: createBbo(sources, counts.bbo),
    trades: createTrades(sources, counts.trades),
    candle: createCandle(sources, counts.candle),
    activeAssetCtx: createActiveAssetCtx(sources, counts.activeAssetCtx),
    orderUpdates,
    userFills: createUserFills(fills, sources, counts.userFills),
    userEvents: createUserEvents(fills, counts.userEvents),
    clearinghouseState: account.clearinghouseState,
    openOrders: account.openOrders,
    webData2: account.webData2,
    activeAssetData: account.activeAssetData,
    spotState: QUIET_CHANNELS.spotState,
    notification: QUIET_CHANNELS.notification,
    userFundings: QUIET_CHANNELS.userFundings,
    userNonFundingLedgerUpdates: QUIET_CHANNELS.userNonFundingLedgerUpdates,
  }
  return {
    reads: sources.reads,
    byName,
    close() {
      for (const channel of Object.values(byName)) channel.close?.()
      account.close()
      fills.close()
    },
  }
}
