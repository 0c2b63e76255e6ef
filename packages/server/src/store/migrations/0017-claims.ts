import type { Migration } from './migration.ts'

/**
 * Claims: registrations that never were in force are counted by network, bounded and forgotten. The newest struct that
 * each pair of agent and trader signed gets a row of its own. An agent registered before counts as used when it ordered
 * for its trader, else as delegated, so that an agent that a stranger claimed then is not his for ever.
 */
export const claims: Migration = {
  kind: 'expand',
  statements: [
    // 0: only claimed, 1: delegated, 2: used.
    'alter table agents add column standing bigint not null default 2',
    `update agents set standing = 1 where not exists (
      select 1 from orders
      where orders.chain = agents.chain and orders.trader = agents.trader and orders.agent = agents.agent
    )`,
    // 0: to be copied from the scope when the registry is opened.
    'alter table agents add column expires_at bigint not null default 0',
    `update agents set expires_at = 9007199254740991 where scope like '%"expiresAt":null%'`,
    'create index agents_by_expiry on agents (chain, expires_at) where standing > 0',
    // Numbers for the markets of scopes, because anybody can register scopes that name many.
    `create table scope_markets (
      id bigint not null primary key,
      symbol text not null unique
    )`,
    'alter table api_keys add column standing bigint not null default 2',
    'alter table api_keys add column last_used_at bigint',
    // An empty agent stands for the API keys of the trader, an empty trader for what the agent itself signed.
    // claimed_at: when the trader claimed an agent that was then taken from it; else 0.
    `create table accepted_structs (
      chain text not null,
      agent text not null,
      trader text not null,
      signed_at bigint not null,
      is_kept bigint not null,
      claimed_at bigint not null default 0,
      primary key (chain, agent, trader)
    )`,
    'create index accepted_structs_by_time on accepted_structs (is_kept, signed_at)',
    'insert into accepted_structs select chain, agent, trader, signed_at, 1, 0 from agents',
    `insert into accepted_structs select chain, agent, '', signed_at, 1, 0 from agents where agent_signed = 1`,
    `insert into accepted_structs
      select chain, '', trader, max(signed_at), 1, 0 from api_keys group by chain, trader`,
    // subject: the chain, then the agent, or the trader and the label of an API key. asked_at: the time of the request,
    // as long as the audit log does not have it; else null.
    `create table claims (
      subject text not null primary key,
      network text not null,
      since bigint not null,
      asked_at bigint,
      caller_ip text,
      request_id text
    )`,
    'create index claims_by_network on claims (network, since)',
    'create index claims_by_time on claims (since)',
    // The empty network counts all claims.
    `create table claim_networks (
      network text not null primary key,
      held bigint not null
    )`,
    'create index claim_networks_by_count on claim_networks (held desc, network)',
  ],
}
