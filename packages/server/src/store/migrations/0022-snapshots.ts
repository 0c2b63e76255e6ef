import type { Migration } from './migration.ts'

/** The state of each chain's snapshot, the traders whose state is not proven, and the repairs that were asked for. */
export const snapshots: Migration = {
  kind: 'expand',
  statements: [
    // One row a chain: the block, and how far the list of traders has been read.
    `create table snapshots (
      chain text not null primary key,
      number bigint not null,
      hash text not null,
      parent_hash text not null,
      timestamp bigint not null,
      trader_count bigint not null,
      next_trader bigint not null,
      is_complete bigint not null
    )`,
    `create table unproven_traders (
      chain text not null,
      trader text not null,
      reason text not null,
      primary key (chain, trader)
    )`,
    `create table reindexes (
      id bigint not null primary key,
      chain text not null,
      from_block bigint not null,
      to_block bigint not null,
      next_block bigint not null,
      changed bigint not null
    )`,
  ],
}
