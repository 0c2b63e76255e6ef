import type { Address, ChainSlug, Notification, NotificationType } from '@bezel/protocol'
import { takeIds } from './ids.ts'
import { holdingFree, type Sql } from './sql.ts'

/** Recipient of a notice to all traders. */
export const EVERYBODY = '*'

/** The topic of a notice. A topic keeps its notice's id, and is not shown again to a trader that dismissed it. */
export interface NoticeKey {
  readonly chain: ChainSlug
  readonly type: NotificationType
  /** Subject within the chain and type: an order, an agent with its expiry, a delegation. */
  readonly subject: string
}

/** The content of a notice. */
export type NoticeContent = Pick<
  Notification,
  'severity' | 'title' | 'message' | 'market' | 'orderId' | 'positionId' | 'link'
>

/** A notice that has no id yet. */
export interface Notice {
  readonly trader: Address | typeof EVERYBODY
  readonly key: NoticeKey
  readonly content: NoticeContent
  readonly createdAtMs: number
  /** Expiry in epoch ms; `null` when the notice stays until it is ended. */
  readonly expiresAtMs: number | null
}

interface NoticeRow {
  readonly id: bigint
  readonly type: string
  readonly content: string
  readonly created_at: bigint
  readonly expires_at: bigint | null
}

/** Takes `count` ids of the notices' own sequence, in rising order. An id is never given twice. */
export async function takeNoticeIds(sql: Sql, count: number): Promise<number[]> {
  return count === 0 ? [] : (await takeIds(sql, 'notices', count)).map(Number)
}

/** Stores a notice under this id. An earlier notice on the same topic keeps its own id and stays dismissed. */
export async function saveNotice(sql: Sql, id: number, notice: Notice): Promise<void> {
  const { trader, key, content, createdAtMs, expiresAtMs } = notice
  sql.write(
    `insert into notices (trader, id, chain, type, subject, content, created_at, expires_at, is_withdrawn)
     values ($1, $2, $3, $4, $5, $6, $7, $8, 0)
     on conflict (chain, type, subject) do update set content = $6, expires_at = $8, is_withdrawn = 0`,
    trader,
    id,
    key.chain,
    key.type,
    key.subject,
    JSON.stringify(content),
    createdAtMs,
    expiresAtMs,
  )
}

/** Hides a notice whose cause is gone but may return. */
export async function withdrawNotice(sql: Sql, { chain, type, subject }: NoticeKey): Promise<void> {
  sql.write('update notices set is_withdrawn = 1 where chain = $1 and type = $2 and subject = $3', chain, type, subject)
}

/** Deletes a notice with its dismissals. If its cause returns, it is a new notice for everybody. */
export async function endNotice(sql: Sql, { chain, type, subject }: NoticeKey): Promise<void> {
  const where = 'chain = $1 and type = $2 and subject = $3'
  sql.write(
    `delete from notice_dismissals where notice_id in (select id from notices where ${where})`,
    chain,
    type,
    subject,
  )
  sql.write(`delete from notices where ${where}`, chain, type, subject)
}

/** Lists the notices of a chain and of these types that are not ended. */
export async function listNoticeKeys(
  sql: Sql,
  chain: ChainSlug,
  types: readonly NotificationType[],
): Promise<NoticeKey[]> {
  const keys: NoticeKey[] = []
  for (const type of types) {
    const rows = await sql.all<{ subject: string }>(
      'select subject from notices where chain = $1 and type = $2',
      chain,
      type,
    )
    keys.push(...rows.map(({ subject }) => ({ chain, type, subject })))
  }
  return keys
}

/** Lists the newest `limit` notices to this trader or to everybody that the trader has not dismissed, newest first. */
export async function listNotices(
  sql: Sql,
  trader: Address,
  of: { readonly nowMs: number; readonly limit: number },
): Promise<Notification[]> {
  const own = await listFor(sql, trader, trader, of)
  const common = await listFor(sql, EVERYBODY, trader, of)
  return [...own, ...common].toSorted((a, b) => b.createdAt - a.createdAt || b.id - a.id).slice(0, of.limit)
}

async function listFor(
  sql: Sql,
  to: Notice['trader'],
  reader: Address,
  { nowMs, limit }: { readonly nowMs: number; readonly limit: number },
): Promise<Notification[]> {
  const rows = await sql.all<NoticeRow>(
    `select id, type, content, created_at, expires_at from notices
     where trader = $1 and is_withdrawn = 0 and (expires_at is null or expires_at > $2)
       and not exists (select 1 from notice_dismissals where notice_id = notices.id and notice_dismissals.trader = $3)
     order by id desc limit $4`,
    to,
    nowMs,
    reader,
    limit,
  )
  return rows.map(toNotification)
}

/**
 * Dismisses a notice; repeating it changes nothing. Returns false when there is no such notice to this trader or to
 * everybody.
 */
export async function dismissNotice(sql: Sql, trader: Address, id: number): Promise<boolean> {
  const found = await sql.get('select id from notices where id = $1 and trader in ($2, $3)', id, trader, EVERYBODY)
  if (found === undefined) return false
  await sql.run('insert into notice_dismissals (notice_id, trader) values ($1, $2) on conflict do nothing', id, trader)
  return true
}

/** Deletes up to `limit` expired notices, but for those that are just renewed. Returns their number. */
export async function deleteExpiredNotices(sql: Sql, nowMs: number, limit: number): Promise<number> {
  const rows = await sql.all<{ trader: string; id: bigint }>(
    `select trader, id from notices where expires_at <= $1 order by expires_at limit $2${holdingFree(sql)}`,
    nowMs,
    limit,
  )
  for (const { trader, id } of rows) {
    sql.write('delete from notice_dismissals where notice_id = $1', id)
    sql.write('delete from notices where trader = $1 and id = $2', trader, id)
  }
  return rows.length
}

export async function hasExpiredNotices(sql: Sql, nowMs: number): Promise<boolean> {
  return (await sql.get('select 1 from notices where expires_at <= $1 limit 1', nowMs)) !== undefined
}

function toNotification({ id, type, content, created_at, expires_at }: NoticeRow): Notification {
  const { severity, title, message, market, orderId, positionId, link } = JSON.parse(content) as NoticeContent
  return {
    id: Number(id),
    type: type as NotificationType,
    severity,
    title,
    message,
    market,
    orderId,
    positionId,
    link,
    createdAt: Number(created_at),
    expiresAt: expires_at === null ? null : Number(expires_at),
  }
}
