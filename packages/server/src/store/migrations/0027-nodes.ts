import type { Migration } from './migration.ts'

/** The services that run on the data, and the indices for forgetting what was prepared and never sent. */
export const nodes: Migration = {
  kind: 'expand',
  statements: [
    // schema_number: the newest step of the schema that the node knows. Times are those of the database.
    `create table nodes (
      id text not null primary key,
      version text not null,
      schema_number bigint not null,
      roles text not null,
      started_at bigint not null,
      seen_at bigint not null
    )`,
    'create index position_attempts_by_expiry on position_attempts (expires_at)',
    // An order that is deleted is looked for in every table that refers to it.
    'create index relay_exits_by_order on relay_exits (order_id)',
  ],
}
