import type { Migration } from './migration.ts'

/** The log of every change of rights, and the controls that the operator has set. */
export const auditLog: Migration = {
  kind: 'expand',
  statements: [
    `create table audit_log (
      id bigint not null primary key,
      chain text not null,
      at bigint not null,
      kind text not null,
      trader text,
      agent text,
      key_label text,
      caller_ip text,
      request_id text,
      detail text
    )`,
    // No id is given twice.
    'create table audit_ids (next_id bigint not null)',
    'insert into audit_ids (next_id) values (1)',
    'create index audit_log_by_trader on audit_log (chain, trader, id)',
    'create index audit_log_with_ip on audit_log (at) where caller_ip is not null',
    // A subject of '' stands for the whole chain.
    `create table controls (
      chain text not null,
      control text not null,
      subject text not null,
      value text not null,
      set_at bigint not null,
      primary key (chain, control, subject)
    )`,
  ],
}
