import type { Migration } from './migration.ts'

/**
 * The place in which the nodes of a deployment keep used nonces of reads, and the name under which the deployment is
 * known in a Redis that it may share with others. One row, which only PostgreSQL uses.
 */
export const nonceKeeper: Migration = {
  kind: 'expand',
  statements: [
    `create table nonce_keeper (
      deployment text not null,
      epoch text not null,
      redis_after bigint not null,
      store_after bigint not null,
      doubted_at bigint not null
    )`,
    `insert into nonce_keeper (deployment, epoch, redis_after, store_after, doubted_at) values ('', '', 0, 0, 0)`,
  ],
}
