import type { Migration } from './migration.ts'

/**
 * Open positions in the order of their ids, so that a start reads them page by page. It takes the place of an index
 * that had no order.
 */
export const openPositions: Migration = {
  kind: 'expand',
  statements: [
    'create index positions_open_by_id on positions (chain, id) where is_open = 1',
    'drop index positions_open',
  ],
}
