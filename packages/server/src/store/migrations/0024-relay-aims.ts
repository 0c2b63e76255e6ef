import type { Migration } from './migration.ts'

/** The orders and positions that the relayer's actions name. Entries of before have none: they end within minutes. */
export const relayAims: Migration = {
  kind: 'expand',
  statements: ['alter table relay_entries add column aims text'],
}
