import type { Address } from '@bezel/protocol'
import type { FacadeReads } from '../facadeReads.ts'
import { createAccountChannels, type AccountChannels } from './channels/account.ts'
import { activeAssetCtxTelling } from './channels/activeAssetCtx.ts'
import { createAllMids, type AllMids } from './channels/allMids.ts'
import { createCandleChannel, type CandleChannel } from './channels/candle.ts'
import { openFillTale, type FillTale } from './channels/fillTale.ts'
import { bboTelling, l2BookTelling } from './channels/l2Book.ts'
import { openOrderTale, type OrderTale } from './channels/orderTale.ts'
import { createPairValues, type PairValues } from './channels/pairValues.ts'
import { createTrades, type Trades } from './channels/trades.ts'
import { createUserTales, type UserTales } from './channels/userTales.ts'
import type { FacadeCounts } from './facadeCounts.ts'
import type { FacadeStreamSources } from './facadeStreamSources.ts'

/** Everything that sockets of one chain's facade listen to. */
export interface FacadeChannels {
  readonly reads: FacadeReads
  readonly counts: FacadeCounts
  readonly allMids: AllMids
  readonly l2Book: PairValues
  readonly bbo: PairValues
  readonly activeAssetCtx: PairValues
  readonly trades: Trades
  readonly candle: CandleChannel
  readonly orders: UserTales<OrderTale>
  readonly fills: UserTales<FillTale>
  readonly account: AccountChannels
  /** Keeps what emits no event of a user's fresh, if it is one who trades here. Returns what ends it. */
  readonly watch: (user: Address) => () => void
  readonly onError: (error: unknown) => void
  close(): void
}

export function createFacadeChannels(sources: FacadeStreamSources, counts: FacadeCounts): FacadeChannels {
  const { reads, log, onError } = sources
  const channels = {
    allMids: createAllMids(sources, counts.allMids),
    l2Book: createPairValues({ ...sources, read: l2BookTelling(reads), counts: counts.l2Book }),
    bbo: createPairValues({ ...sources, read: bboTelling(reads), counts: counts.bbo }),
    activeAssetCtx: createPairValues({ ...sources, read: activeAssetCtxTelling(reads), counts: counts.activeAssetCtx }),
    trades: createTrades(sources, counts.trades),
    candle: createCandleChannel(sources, counts.candle),
    orders: createUserTales(log, (user, isOver) =>
      openOrderTale({ ...sources, user, isOver, counts: counts.orderUpdates }),
    ),
    fills: createUserTales(log, (user, isOver) => openFillTale({ ...sources, user, isOver })),
    account: createAccountChannels(sources, counts),
  }
  return {
    ...channels,
    reads,
    counts,
    onError,
    watch: (user) => (isKnown(reads, user) ? sources.watch(user) : () => undefined),
    close() {
      for (const channel of Object.values(channels)) channel.close()
    },
  }
}

/** Anybody may listen to any address, and rounds are for those who trade here. */
function isKnown({ registry, chain }: FacadeReads, user: Address): boolean {
  return registry.agentsOf(chain, user).length > 0
}
