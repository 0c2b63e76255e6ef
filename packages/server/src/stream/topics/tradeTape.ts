import type { ChainSlug, RecentTrade } from '@bezel/protocol'
import type { Changes } from '../../journal/accountLog.ts'
import { listTrades, recentTrade } from '../../market/recentTrades.ts'
import type { Store } from '../../store/sql.ts'
import type { TradeSource } from './publicSources.ts'

type Trades = readonly { readonly pairIndex: number; readonly trade: RecentTrade }[]

/** The executions of one chain as they are committed. */
export interface TradeTape extends TradeSource {
  /** After each commit. */
  apply(changes: Pick<Changes, 'fills' | 'cause'>): void
}

export function createTradeTape({ chain, store }: { chain: ChainSlug; store: Pick<Store, 'read'> }): TradeTape {
  const listeners = new Set<(trades: Trades) => void>()
  const takenBack = new Set<() => void>()
  return {
    list: (pairIndex, limit) => listTrades(store.read, { chain, pairIndex, limit }),
    onTrades(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    onTakenBack(listener) {
      takenBack.add(listener)
      return () => takenBack.delete(listener)
    },
    apply({ fills, cause }) {
      if (cause.isReorg) for (const listener of takenBack) listener()
      if (fills.length === 0 || listeners.size === 0) return
      const trades = fills.flatMap(({ pairIndex, fill }) => {
        const trade = recentTrade(fill)
        return trade === undefined ? [] : [{ pairIndex, trade }]
      })
      if (trades.length > 0) for (const listener of listeners) listener(trades)
    },
  }
}
