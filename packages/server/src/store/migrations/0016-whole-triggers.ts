import type { Migration } from './migration.ts'

/**
 * Take profits and stop losses of whole positions: one order for all trades that have it at the same price. Each id of
 * before stays the id of its own trade until the next listing joins equal ones.
 */
export const wholeTriggers: Migration = {
  kind: 'contract',
  statements: [
    'drop index facade_triggers_by_oid',
    'create index facade_triggers_by_oid on facade_triggers (oid)',
    `create table facade_former_parts (
      oid bigint not null,
      position_id bigint not null references positions (id),
      kind text not null,
      primary key (oid, position_id)
    )`,
    'insert into facade_former_parts select oid, position_id, kind from facade_former_triggers',
    'drop table facade_former_triggers',
    'alter table facade_former_parts rename to facade_former_triggers',
    `create table facade_placed_triggers (
      chain text not null,
      trader text not null,
      pair_index bigint not null,
      is_long bigint not null,
      kind text not null,
      oid bigint not null,
      price text not null,
      primary key (chain, trader, pair_index, is_long, kind)
    )`,
    `create table facade_inheriting_orders (
      order_id bigint not null primary key references orders (id),
      chain text not null,
      kinds text not null
    )`,
    'create index facade_inheriting_by_chain on facade_inheriting_orders (chain, order_id)',
  ],
}
