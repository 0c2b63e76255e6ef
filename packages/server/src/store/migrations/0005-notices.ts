import type { Migration } from './migration.ts'

/** Messages to users. */
export const notices: Migration = {
  kind: 'expand',
  statements: [
    'create table notice_sequence (next_id bigint not null)',
    'insert into notice_sequence (next_id) values (1)',
    // Every execution writes one, so it has no more indices than it needs: to list, to tell a thing once, to let go of
    // what is over.
    `create table notices (
      trader text not null,
      id bigint not null,
      chain text not null,
      type text not null,
      subject text not null,
      content text not null,
      created_at bigint not null,
      expires_at bigint,
      is_withdrawn bigint not null,
      primary key (trader, id)
    )`,
    'create unique index notices_by_subject on notices (chain, type, subject)',
    'create index notices_by_expiry on notices (expires_at)',
    // Apart from the notices, because one to everybody is dismissed by each for itself.
    `create table notice_dismissals (
      notice_id bigint not null,
      trader text not null,
      primary key (notice_id, trader)
    )`,
    // Whom each trader's chain was last seen to let trade for it, where that was an agent of this deployment.
    `create table seen_delegations (
      chain text not null,
      trader text not null,
      agent text not null,
      primary key (chain, trader)
    )`,
  ],
}
