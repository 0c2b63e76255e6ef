import type { Store } from '../store/sql.ts'
import type { Metrics } from './createMetrics.ts'

/** The same store, with its transactions counted. */
export function countTransactions(store: Store, metrics: Metrics): Store {
  return {
    read: store.read,
    async transaction(work) {
      try {
        const result = await store.transaction(work)
        metrics.transacted('committed')
        return result
      } catch (error) {
        metrics.transacted('rolled_back')
        throw error
      }
    },
    close: () => store.close(),
  }
}
