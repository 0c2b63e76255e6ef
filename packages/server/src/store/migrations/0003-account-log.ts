import type { Migration } from './migration.ts'

/** The numbered events of each account. */
export const accountLog: Migration = {
  kind: 'expand',
  statements: [
    // One row per log, so that its events need no long keys.
    `create table account_logs (
      id bigint not null primary key,
      chain text not null,
      trader text not null,
      last_seq bigint not null,
      holdings text
    )`,
    'create unique index account_logs_by_trader on account_logs (chain, trader)',
    `create table account_events (
      log_id bigint not null references account_logs (id),
      seq bigint not null,
      channel text not null,
      timestamp bigint not null,
      block_number bigint,
      is_reverted bigint not null,
      data text not null,
      primary key (log_id, seq)
    )`,
    // An order that rested for long is filled after younger ones. Of those from before this step the next best is
    // known.
    'alter table orders add column filled_at bigint',
    `update orders set filled_at = created_at where status = 'filled'`,
    'create index orders_filled on orders (chain, trader, filled_at, id) where filled_at is not null',
  ],
}
