import type { Migration } from './migration.ts'

/**
 * The last change that was sent of the take profit or stop loss of each whole position, with its transaction, so that
 * every node of a deployment, also after a restart, knows what is on its way to the chain.
 */
export const triggerChanges: Migration = {
  kind: 'expand',
  statements: [
    `create table facade_trigger_changes (
      chain text not null,
      trader text not null,
      pair_index bigint not null,
      is_long bigint not null,
      kind text not null,
      oid bigint not null,
      price text not null,
      tx_hash text not null,
      primary key (chain, trader, pair_index, is_long, kind)
    )`,
  ],
}
