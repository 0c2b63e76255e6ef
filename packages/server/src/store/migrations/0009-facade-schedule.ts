import type { Migration } from './migration.ts'

/** Names that clients of the facade gave to orders, and when they want their orders cancelled. */
export const facadeSchedule: Migration = {
  kind: 'expand',
  statements: [
    // What was asked for under a client's own id, as it was asked: what it became natively depends on the price of that
    // moment.
    `create table facade_cloids (
      chain text not null,
      trader text not null,
      cloid text not null,
      asked text not null,
      oid bigint not null,
      primary key (chain, trader, cloid)
    )`,
    `create table facade_schedules (
      chain text not null,
      trader text not null,
      agent text not null,
      due_at bigint not null,
      primary key (chain, trader)
    )`,
    'create index facade_schedules_due on facade_schedules (chain, due_at)',
  ],
}
