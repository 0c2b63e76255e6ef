import type { Migration } from './migration.ts'

/**
 * The number of each chain's last commit, and the commits of the last hour with what they changed, by which every node
 * follows what the others do.
 */
export const commits: Migration = {
  kind: 'expand',
  statements: [
    'alter table chain_times add column commits bigint not null default 0',
    `create table commits (
      chain text not null,
      number bigint not null,
      committed_at bigint not null,
      body text not null,
      primary key (chain, number)
    )`,
    'create index commits_by_time on commits (committed_at)',
  ],
}
