import type { Address, AuditKind, AuditLogEntry, ChainSlug } from '@bezel/protocol'
import { takeIds } from './ids.ts'
import type { Sql } from './sql.ts'

/** The request that caused an entry of the audit log. */
export interface AuditOrigin {
  /** Network address of the caller. Only the operator sees it, and it is erased after some time. */
  readonly callerIp?: string
  readonly requestId?: string
}

/** A change of somebody's rights, or a refusal that the trader should know of. */
export interface AuditEntry extends AuditOrigin {
  readonly chain: ChainSlug
  readonly atMs: number
  readonly kind: AuditKind
  /** The trader who reads the entry; `null` for an entry that is about no single trader. */
  readonly trader: Address | null
  readonly agent?: Address
  /** Label of an API key. */
  readonly keyLabel?: string
  /** More about the event, by its kind. */
  readonly detail?: Readonly<Record<string, unknown>>
}

/** Entries that are kept for each trader and chain, so that nobody can fill the disk with changes of its own. */
const MAX_PER_TRADER = 2_000

interface AuditRow {
  readonly id: bigint
  readonly at: bigint
  readonly kind: string
  readonly agent: string | null
  readonly key_label: string | null
  readonly request_id: string | null
  readonly detail: string | null
}

/** Appends an entry to the audit log, in the transaction of the change that it tells of. */
export async function writeAudit(sql: Sql, entry: AuditEntry): Promise<void> {
  const { chain, atMs, kind, trader, agent, keyLabel, callerIp, requestId, detail } = entry
  const [id] = await takeIds(sql, 'audit', 1)
  await sql.run(
    `insert into audit_log (chain, at, kind, trader, agent, key_label, caller_ip, request_id, detail, id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    chain,
    atMs,
    kind,
    trader,
    agent ?? null,
    keyLabel ?? null,
    callerIp ?? null,
    requestId ?? null,
    detail === undefined ? null : JSON.stringify(detail),
    id!,
  )
  if (trader !== null) await forgetBeyond(sql, chain, trader)
}

/** Deletes the oldest entries of a trader that has more than `MAX_PER_TRADER`. */
async function forgetBeyond(sql: Sql, chain: ChainSlug, trader: Address): Promise<void> {
  await sql.run(
    `delete from audit_log where chain = $1 and trader = $2 and id <= (
       select id from audit_log where chain = $1 and trader = $2 order by id desc limit 1 offset $3)`,
    chain,
    trader,
    MAX_PER_TRADER,
  )
}

/** Lists up to `limit` entries of a trader with an id below `cursor`, newest first, without callers' addresses. */
export async function listAudit(
  sql: Sql,
  of: {
    readonly chain: ChainSlug
    readonly trader: Address
    readonly cursor: number | undefined
    readonly limit: number
  },
): Promise<AuditLogEntry[]> {
  const rows = await sql.all<AuditRow>(
    `select id, at, kind, agent, key_label, request_id, detail from audit_log
     where chain = $1 and trader = $2 and id < $3 order by id desc limit $4`,
    of.chain,
    of.trader,
    of.cursor ?? Number.MAX_SAFE_INTEGER,
    of.limit,
  )
  return rows.map(toLogEntry)
}

/** Erases the callers' addresses of up to `limit` entries from before `beforeMs`. Returns the number of entries. */
export async function eraseCallerIps(sql: Sql, beforeMs: number, limit: number): Promise<number> {
  return sql.run(
    `update audit_log set caller_ip = null where id in
       (select id from audit_log where caller_ip is not null and at < $1 order by at limit $2)`,
    beforeMs,
    limit,
  )
}

function toLogEntry({ id, at, kind, agent, key_label, request_id, detail }: AuditRow): AuditLogEntry {
  return {
    id: Number(id),
    createdAt: Number(at),
    kind: kind as AuditKind,
    agent: agent as Address | null,
    keyLabel: key_label,
    requestId: request_id,
    detail: detail === null ? null : (JSON.parse(detail) as Record<string, unknown>),
  }
}
