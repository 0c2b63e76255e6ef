import type { Migration } from './migration.ts'

/**
 * The time of the last commit of each chain, so that the time of the next one is never before it, and the timestamp up
 * to which used nonces are forgotten, so that none of them is accepted again when a clock is set back.
 */
export const timeRunsForward: Migration = {
  kind: 'expand',
  statements: [
    `create table chain_times (
      chain text not null primary key,
      committed_at bigint not null
    )`,
    `insert into chain_times (chain, committed_at)
     select log.chain, max(event.timestamp) from account_logs as log
     join account_events as event on event.log_id = log.id and event.seq = log.last_seq
     group by log.chain`,
    'create table nonce_floor (up_to bigint not null)',
    'insert into nonce_floor (up_to) values (0)',
  ],
}
