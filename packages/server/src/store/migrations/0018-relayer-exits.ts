import type { Migration } from './migration.ts'

/**
 * The gas that is set aside for the ways out of what the relayer opened, the agent of every entry, and the traders that
 * were active lately. Nothing is set aside yet for what is open already: the relayer does it when it starts.
 */
export const relayerExits: Migration = {
  kind: 'expand',
  statements: [
    // Entries of before have no agent: they end within minutes.
    'alter table relay_entries add column agent text',
    // 1 for an entry that is paid wholly from what is set aside.
    'alter table relay_entries add column is_exit bigint not null default 0',
    `create index relay_entries_by_agent on relay_entries (chain, sender, agent) where state = 'live'`,
    // The amounts are what is left of each part. They count while over_at is null, which a reorganisation may restore.
    `create table relay_exits (
      chain text not null,
      order_id bigint not null references orders (id),
      trader text not null,
      day bigint not null,
      close_wei text not null,
      stops_wei text not null,
      cancel_wei text not null,
      surcharge_wei text not null,
      over_at bigint,
      primary key (chain, order_id)
    )`,
    'create index relay_exits_over on relay_exits (over_at) where over_at is not null',
    'create index relay_exits_held on relay_exits (chain, trader) where over_at is null',
    // What an entry counts that was set aside, by the order and the part that it was set aside for.
    `create table relay_exit_uses (
      chain text not null,
      sender text not null,
      nonce bigint not null,
      order_id bigint not null,
      part text not null,
      day bigint not null,
      wei text not null,
      primary key (chain, sender, nonce, order_id, part)
    )`,
    'create index relay_exit_uses_by_order on relay_exit_uses (chain, order_id, part)',
    // The sum of all amounts of relay_exits that are held.
    'create table relay_aside (chain text not null primary key, wei text not null)',
    `create table relay_traders (
      chain text not null,
      trader text not null,
      active_at bigint not null,
      primary key (chain, trader)
    )`,
    'create index relay_traders_active on relay_traders (chain, active_at)',
  ],
}
