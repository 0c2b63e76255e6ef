import type { Migration } from './migration.ts'

/**
 * The node that leads a role on a chain; the chain is empty for what belongs to none. A released lease has no holder.
 * The second unique key makes a new token a change of the row's key, which waits for the transactions that hold it,
 * and lets a renewal pass them. `told` is what the leader tells all other nodes.
 */
export const leases: Migration = {
  kind: 'expand',
  statements: [
    `create table leases (
      role text not null,
      chain text not null,
      holder text not null,
      token bigint not null,
      renewed_at bigint not null,
      told text not null,
      primary key (role, chain),
      unique (role, chain, token)
    )`,
  ],
}
