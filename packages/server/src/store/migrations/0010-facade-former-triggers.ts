import type { Migration } from './migration.ts'

/** Ids that take profits and stop losses had before another order took their place. */
export const facadeFormerTriggers: Migration = {
  kind: 'expand',
  statements: [
    `create table facade_former_triggers (
      oid bigint not null primary key,
      position_id bigint not null references positions (id),
      kind text not null
    )`,
  ],
}
