import type { Migration } from './migration.ts'

/** Which chains the data is of; agents, API keys, nonces; reference prices that fix a market's precision. */
export const chainsAndAgents: Migration = {
  kind: 'expand',
  statements: [
    `create table chains (
      chain text not null primary key,
      chain_id bigint not null,
      diamond text not null,
      genesis_hash text not null
    )`,
    `create table agents (
      chain text not null,
      agent text not null,
      trader text not null,
      name text not null,
      scope text not null,
      mode text not null,
      agent_signed bigint not null,
      revoked bigint not null,
      created_at bigint not null,
      signed_at bigint not null,
      primary key (chain, agent)
    )`,
    'create index agents_by_trader on agents (chain, trader)',
    `create table api_keys (
      chain text not null,
      trader text not null,
      label text not null,
      key_hash text not null,
      created_at bigint not null,
      signed_at bigint not null,
      primary key (chain, trader, label)
    )`,
    'create unique index api_keys_by_hash on api_keys (chain, key_hash)',
    `create table nonces (
      chain text not null,
      agent text not null,
      nonce text not null,
      timestamp bigint not null,
      primary key (chain, agent, nonce)
    )`,
    'create index nonces_by_time on nonces (timestamp)',
    `create table reference_prices (
      chain text not null,
      pair_index bigint not null,
      price text not null,
      primary key (chain, pair_index)
    )`,
  ],
}
