import type { Migration } from './migration.ts'

/** What the relayer's actions name on the chain. Entries of before have none: they end within minutes. */
export const relayAims: Migration = {
  statements: ['alter table relay_entries add column aims text'],
}
