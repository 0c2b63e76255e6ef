import type { Migration } from './migration.ts'

/** Orders, attempts and what the chain said of them; positions; fills; spend; the blocks that were followed. */
export const orders: Migration = {
  statements: [
    'create table id_sequence (next_id bigint not null)',
    'insert into id_sequence (next_id) values (1)',
    `create table orders (
      id bigint not null primary key,
      chain text not null,
      trader text not null,
      agent text,
      client_id text,
      origin_key text,
      request text not null,
      created_at bigint not null,
      spend_usd text not null,
      spend_day bigint,
      status text,
      state text,
      due_at bigint,
      due_block bigint
    )`,
    'create unique index orders_by_client_id on orders (chain, trader, client_id) where client_id is not null',
    'create unique index orders_by_origin on orders (chain, origin_key) where origin_key is not null',
    'create index orders_by_trader on orders (chain, trader, id)',
    `create index orders_live on orders (chain, trader, id) where status in ('prepared', 'pending', 'open')`,
    `create index orders_prepared on orders (chain, agent) where status = 'prepared'`,
    'create index orders_due_at on orders (chain, due_at) where due_at is not null',
    'create index orders_due_block on orders (chain, due_block) where due_block is not null',
    `create table attempts (
      id text not null primary key,
      order_id bigint not null references orders (id),
      chain text not null,
      kind text not null,
      sender text not null,
      calldata text not null,
      gas text,
      created_at bigint not null,
      expires_at bigint not null,
      size text,
      submitted_hash text,
      submitted_at bigint,
      is_mismatch bigint not null,
      withdrawn_at bigint
    )`,
    'create index attempts_by_order on attempts (order_id)',
    'create index attempts_by_hash on attempts (chain, submitted_hash) where submitted_hash is not null',
    `create table order_events (
      chain text not null,
      block_hash text not null,
      log_index bigint not null,
      block_number bigint not null,
      order_id bigint not null references orders (id),
      trader text not null,
      handle text,
      body text not null,
      primary key (chain, block_hash, log_index)
    )`,
    'create index order_events_by_order on order_events (order_id)',
    'create index order_events_by_handle on order_events (chain, trader, handle) where handle is not null',
    `create table positions (
      id bigint not null primary key,
      chain text not null,
      trader text not null,
      origin_order_id bigint not null references orders (id),
      trade_index bigint,
      is_open bigint not null,
      state text
    )`,
    'create unique index positions_by_origin on positions (origin_order_id)',
    'create index positions_by_trade on positions (chain, trader, trade_index)',
    'create index positions_open on positions (chain) where is_open = 1',
    `create table position_events (
      chain text not null,
      block_hash text not null,
      log_index bigint not null,
      block_number bigint not null,
      position_id bigint not null references positions (id),
      body text not null,
      primary key (chain, block_hash, log_index)
    )`,
    'create index position_events_by_position on position_events (position_id)',
    `create table fills (
      id bigint not null primary key,
      chain text not null,
      trader text not null,
      block_hash text not null,
      block_number bigint not null,
      log_index bigint not null,
      pair_index bigint not null,
      body text not null
    )`,
    'create unique index fills_by_place on fills (chain, block_hash, log_index)',
    'create index fills_by_trader on fills (chain, trader, block_number, log_index)',
    'create index fills_by_pair on fills (chain, pair_index, block_number, log_index)',
    `create table spend (
      chain text not null,
      agent text not null,
      day bigint not null,
      spent_usd text not null,
      primary key (chain, agent, day)
    )`,
    `create table blocks (
      chain text not null,
      number bigint not null,
      hash text not null,
      parent_hash text not null,
      timestamp bigint not null,
      primary key (chain, number)
    )`,
  ],
}
