import { Usd, type Address, type OrderId } from '@bezel/protocol'
import type { ChangeCharge } from '../trading/orders/countedSpend.ts'
import type { AttemptId } from '../trading/orders/orderModel.ts'
import { pointRead } from './pointReads.ts'
import type { Sql } from './sql.ts'

/** The charge of a prepared change, as stored. */
export interface StoredCharge extends ChangeCharge {
  readonly orderId: OrderId
  /** Agent against whose cap it counts. */
  readonly agent: Address
  /** UTC day to which it is charged; `undefined` while it does not count. */
  readonly day: number | undefined
}

/** Inserts a charge that does not count yet; the fold of its order decides. */
export async function insertCharge(
  sql: Sql,
  { attemptId, orderId, agent, usd }: Omit<StoredCharge, 'day'>,
): Promise<void> {
  sql.write(
    'insert into change_charges (attempt_id, order_id, agent, usd, day) values ($1, $2, $3, $4, null)',
    attemptId,
    BigInt(orderId),
    agent,
    String(usd),
  )
}

const LIST_CHARGES = pointRead(
  'select attempt_id, agent, usd, day from change_charges where order_id = $1 order by attempt_id',
  'bigint',
)

/** Lists the charges of an order's changes. */
export async function listCharges(sql: Sql, orderId: OrderId): Promise<StoredCharge[]> {
  const rows = await sql.all<{ attempt_id: string; agent: string; usd: string; day: bigint | null }>(
    LIST_CHARGES,
    BigInt(orderId),
  )
  return rows.map((row) => ({
    attemptId: row.attempt_id as AttemptId,
    orderId,
    agent: row.agent as Address,
    usd: Usd.of(BigInt(row.usd)),
    day: row.day === null ? undefined : Number(row.day),
  }))
}

export async function setChargeDay(sql: Sql, attemptId: AttemptId, day: number | undefined): Promise<void> {
  sql.write('update change_charges set day = $2 where attempt_id = $1', attemptId, day ?? null)
}
