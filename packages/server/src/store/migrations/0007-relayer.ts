import type { Migration } from './migration.ts'

/**
 * Everything that the facade's relayer has signed, so that a crash at any point neither loses nor repeats an action.
 */
export const relayer: Migration = {
  kind: 'expand',
  statements: [
    `create table relay_senders (
      chain text not null,
      sender text not null,
      first_nonce bigint not null,
      next_nonce bigint not null,
      primary key (chain, sender)
    )`,
    `create table relay_entries (
      chain text not null,
      sender text not null,
      nonce bigint not null,
      state text not null,
      attempt_id text,
      trader text,
      calldata text,
      gas bigint not null,
      expires_at bigint not null,
      day bigint not null,
      counted_wei text not null,
      ended_at bigint,
      primary key (chain, sender, nonce)
    )`,
    `create index relay_entries_live on relay_entries (chain, sender, nonce) where state = 'live'`,
    // An attempt has a second nonce only when the first was proven to be somebody else's: the schema says so, whatever
    // the code does.
    `create unique index relay_entries_by_attempt on relay_entries (chain, attempt_id)
      where attempt_id is not null and state <> 'lost'`,
    'create index relay_entries_ended on relay_entries (ended_at) where ended_at is not null',
    `create table relay_versions (
      chain text not null,
      sender text not null,
      nonce bigint not null,
      version bigint not null,
      kind text not null,
      hash text not null,
      raw text not null,
      max_fee_wei text not null,
      max_priority_fee_wei text not null,
      created_at bigint not null,
      primary key (chain, sender, nonce, version)
    )`,
    'create unique index relay_versions_by_hash on relay_versions (chain, hash)',
    // The day's gas; a trader of '' stands for the whole deployment.
    `create table relay_gas (
      chain text not null,
      day bigint not null,
      trader text not null,
      wei text not null,
      primary key (chain, day, trader)
    )`,
  ],
}
