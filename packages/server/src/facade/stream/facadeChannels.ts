import { settleFresh } from '../../journal/commits.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { createAccountChannels } from './channels/account.ts'
import { createActiveAssetCtx } from './channels/activeAssetCtx.ts'
import { createAllMids } from './channels/allMids.ts'
import { createAssetCtxs } from './channels/assetCtxs.ts'
import { createCandle } from './channels/candle.ts'
import type { FacadeChannel, FacadeChannelName, FacadeCounts, FacadeStreamSources } from './channels/facadeChannel.ts'
import { createHistoryChannel, createHistoryReaders } from './channels/history.ts'
import { createUserHistoricalOrders } from './channels/userHistoricalOrders.ts'
import { createBbo, createL2Book } from './channels/l2Book.ts'
import { createOrderReaders, createOrderUpdates } from './channels/orderUpdates.ts'
import { QUIET_CHANNELS } from './channels/quiet.ts'
import { createTrades } from './channels/trades.ts'
import { createUserEvents } from './channels/userEvents.ts'
import { readFacadeFills } from '../userFills.ts'
import { readFundings, readLedgerUpdates } from '../userLedger.ts'

/** All channels of one chain's facade. */
export interface FacadeChannels {
  readonly reads: FacadeReads
  /**
   * Waits before anything is read of a user: for what other nodes committed. Throws `NOT_READY` when what is known is
   * too old. `undefined` where there are no other nodes.
   */
  readonly settle: (() => Promise<void>) | undefined
  readonly byName: Readonly<Record<FacadeChannelName, FacadeChannel>>
  close(): void
}

/**
 * Creates every channel. Each is in the file of its name, except `bbo`, which is with the book, six in `account`, three
 * each in `assetCtxs` and `history`, and seven in `quiet`.
 */
export function createFacadeChannels(sources: FacadeStreamSources, counts: FacadeCounts): FacadeChannels {
  // Channels hear of a log's new events in the order in which they are created: an order is sent before its executions,
  // and both before the account.
  const orders = createOrderReaders(sources)
  const fills = createHistoryReaders(sources, readFacadeFills)
  const fundings = createHistoryReaders(sources, readFundings)
  const updates = createHistoryReaders(sources, readLedgerUpdates)
  const account = createAccountChannels(sources, counts)
  const byName: FacadeChannels['byName'] = {
    allMids: createAllMids(sources, counts.allMids),
    l2Book: createL2Book(sources, counts.l2Book),
    bbo: createBbo(sources, counts.bbo),
    trades: createTrades(sources, counts.trades),
    candle: createCandle(sources, counts.candle),
    activeAssetCtx: createActiveAssetCtx(sources, counts.activeAssetCtx),
    orderUpdates: createOrderUpdates(orders, counts.orderUpdates),
    userFills: createHistoryChannel(fills, {
      name: 'userFills',
      field: 'fills',
      write: (fill) => fill,
      counts: counts.userFills,
    }),
    userEvents: createUserEvents(fills, counts.userEvents),
    clearinghouseState: account.clearinghouseState,
    openOrders: account.openOrders,
    webData2: account.webData2,
    activeAssetData: account.activeAssetData,
    allDexsClearinghouseState: account.allDexsClearinghouseState,
    webData3: account.webData3,
    ...createAssetCtxs(sources, counts),
    ...QUIET_CHANNELS,
    userHistoricalOrders: createUserHistoricalOrders(sources, orders, counts.userHistoricalOrders),
    userFundings: createHistoryChannel(fundings, {
      name: 'userFundings',
      field: 'fundings',
      write: ({ time, delta: { type: _type, ...delta } }) => ({ time, ...delta }),
      counts: counts.userFundings,
    }),
    userNonFundingLedgerUpdates: createHistoryChannel(updates, {
      name: 'userNonFundingLedgerUpdates',
      field: 'nonFundingLedgerUpdates',
      write: (update) => update,
      counts: counts.userNonFundingLedgerUpdates,
    }),
  }
  const { commits } = sources
  return {
    reads: sources.reads,
    settle: commits && (() => settleFresh(commits)),
    byName,
    close() {
      for (const channel of Object.values(byName)) channel.close?.()
      account.close()
    },
  }
}
