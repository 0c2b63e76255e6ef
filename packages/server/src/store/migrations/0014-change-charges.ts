import type { Migration } from './migration.ts'

/** Amounts by which changes make orders larger, which count against daily caps. */
export const changeCharges: Migration = {
  kind: 'expand',
  statements: [
    `create table change_charges (
      attempt_id text not null primary key references attempts (id),
      order_id bigint not null references orders (id),
      agent text not null,
      usd text not null,
      day bigint
    )`,
    'create index change_charges_by_order on change_charges (order_id)',
  ],
}
