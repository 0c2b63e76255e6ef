-- The rights of the three users of a Bezel database:
--
--   bezel_migrate  owns the database and its tables: bezel-server migrate, copy and restored, pg_dump
--   bezel_serve    the services: reads and writes rows, changes no table
--   bezel_read     people and reports: reads what holds no secret
--
-- Run it as bezel_migrate after bezel-server migrate, and again after each update:
--
--   psql --file=deploy/grants.sql "$DATABASE_URL"
--
-- It may be run at any time, also while services run.

\set ON_ERROR_STOP on
begin;

do $$
begin
  execute format('revoke all on database %I from public', current_database());
  execute format('grant connect on database %I to bezel_serve, bezel_read', current_database());
end
$$;
revoke all on schema public from public;
grant usage on schema public to bezel_serve, bezel_read;

-- What was granted before and is not granted here is taken back.
revoke all on all tables in schema public from public, bezel_serve, bezel_read;
revoke all on all sequences in schema public from public, bezel_serve, bezel_read;

grant select, insert, update, delete on all tables in schema public to bezel_serve;
grant usage on all sequences in schema public to bezel_serve;
revoke insert, update, delete on schema_version, schema_steps from bezel_serve;
-- The tables of the next update, from the moment they are made.
alter default privileges in schema public grant select, insert, update, delete on tables to bezel_serve;
alter default privileges in schema public grant usage on sequences to bezel_serve;

-- Not read: hashes of keys (also in commits), signed transactions, callers' network addresses, used nonces.
grant select on
  account_events, account_logs, agents, attempt_orders, attempts, audit_ids, blocks, candles, chain_times, chains,
  change_charges, controls, facade_cloids, facade_former_triggers, facade_inheriting_orders, facade_leverages,
  facade_nonce_floor, facade_placed_triggers, facade_schedules, facade_slippage_restores, facade_trigger_changes,
  facade_triggers, fills, id_sequence, leases, nodes, nonce_floor, nonce_keeper, notice_dismissals, notice_sequence,
  notices, order_events, orders, position_attempts, position_events, positions, reference_prices, reindexes,
  relay_aside, relay_entries, relay_exit_uses, relay_exits, relay_gas, relay_senders, relay_traders, running_candles,
  schema_steps, schema_version, scope_markets, seen_delegations, snapshots, spend, unproven_traders
  to bezel_read;
grant select (chain, trader, label, created_at, signed_at, standing, last_used_at) on api_keys to bezel_read;
grant select (id, chain, at, kind, trader, agent, key_label, request_id, detail) on audit_log to bezel_read;
grant select (chain, sender, nonce, version, kind, hash, max_fee_wei, max_priority_fee_wei, created_at)
  on relay_versions to bezel_read;

commit;
