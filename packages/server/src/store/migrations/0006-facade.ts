import type { Migration } from './migration.ts'

/** Used nonces of the exchange-shaped facade. */
export const facade: Migration = {
  kind: 'expand',
  statements: [
    // A nonce is a time, and it is used up on every chain at once.
    `create table facade_nonces (
      signer text not null,
      nonce bigint not null,
      primary key (signer, nonce)
    )`,
    'create index facade_nonces_by_time on facade_nonces (nonce)',
    // Up to which time nonces were let go of.
    'create table facade_nonce_floor (up_to bigint not null)',
    'insert into facade_nonce_floor (up_to) values (0)',
  ],
}
