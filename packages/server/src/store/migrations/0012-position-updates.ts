import type { Migration } from './migration.ts'

/** Changes of positions that wait for the oracle, and the transactions prepared for them. */
export const positionUpdates: Migration = {
  kind: 'expand',
  statements: [
    // The pending order that an event begins, so that its end is found by the trader and the index alone.
    'alter table position_events add column handle text',
    'create index position_events_by_handle on position_events (chain, handle) where handle is not null',
    'alter table positions add column update_status text',
    'alter table positions add column update_due_block bigint',
    'alter table positions add column update_index bigint',
    'alter table positions add column update_attempt text',
    'create index positions_updating on positions (chain, update_due_block) where update_due_block is not null',
    // Every stored state gets the two new fields; a JSON object begins with a brace.
    `update positions set state = '{"pendingUpdate":null,"updateRefusal":null,' || substr(state, 2)
      where state is not null`,
    `create table position_attempts (
      id text not null,
      position_id bigint not null references positions (id),
      kind text not null,
      sender text not null,
      pending_index bigint,
      expires_at bigint not null,
      primary key (id, position_id)
    )`,
    'create index position_attempts_by_position on position_attempts (position_id)',
    // A timed-out order is among the open ones, because its collateral is locked.
    'drop index orders_live',
    `create index orders_live on orders (chain, trader, id) where status in ('prepared', 'pending', 'open', 'timed_out')`,
  ],
}
