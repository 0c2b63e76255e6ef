import type { Migration } from './migration.ts'

/** Prices over time. */
export const candles: Migration = {
  kind: 'expand',
  statements: [
    // Many candles a row: they are read and written together, and a row each would be most of the store.
    `create table candles (
      pair_index bigint not null,
      width_ms bigint not null,
      begin_ms bigint not null,
      body text not null,
      primary key (pair_index, width_ms, begin_ms)
    )`,
    // One row, written every few seconds.
    `create table running_candles (
      id bigint not null primary key,
      body text not null
    )`,
  ],
}
