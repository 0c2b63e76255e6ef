import type { Migration } from './migration.ts'

/**
 * Transactions that carry several orders. An attempt has its first order itself, and one row here for each further
 * one. The view has one row for each order of each attempt.
 */
export const attemptOrders: Migration = {
  kind: 'expand',
  statements: [
    `create table attempt_orders (
      attempt_id text not null references attempts (id),
      place bigint not null,
      order_id bigint not null references orders (id),
      kind text not null,
      is_mismatch bigint not null,
      withdrawn_at bigint,
      primary key (attempt_id, place)
    )`,
    'create index attempt_orders_by_order on attempt_orders (order_id)',
    `create view order_attempts as
      select id, 0 as place, order_id, chain, kind, sender, calldata, call_digest, gas, created_at, expires_at, size,
        submitted_hash, submitted_at, trusted_until, is_mismatch, withdrawn_at
      from attempts
      union all
      select attempts.id, further.place, further.order_id, chain, further.kind, sender, calldata, call_digest, gas,
        created_at, expires_at, null, submitted_hash, submitted_at, trusted_until, further.is_mismatch,
        further.withdrawn_at
      from attempt_orders as further join attempts on attempts.id = further.attempt_id`,
  ],
}
