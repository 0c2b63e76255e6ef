import type { Migration } from './migration.ts'

/** Records of the facade itself: ids of take profits and stop losses, and the leverage a trader chose for a market. */
export const facadeTriggers: Migration = {
  kind: 'expand',
  statements: [
    `create table facade_triggers (
      position_id bigint not null references positions (id),
      kind text not null,
      oid bigint not null,
      primary key (position_id, kind)
    )`,
    'create unique index facade_triggers_by_oid on facade_triggers (oid)',
    `create table facade_leverages (
      chain text not null,
      trader text not null,
      pair_index bigint not null,
      leverage bigint not null,
      primary key (chain, trader, pair_index)
    )`,
  ],
}
