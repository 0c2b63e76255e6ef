import { DatabaseSync } from 'node:sqlite'

/** A row of the orders table. */
export interface StoredOrder {
  readonly id: string
  readonly trader: string
  readonly agent: string | null
  readonly clientId: string | null
  readonly originKey: string | null
  readonly spendUsd: bigint
  readonly spendDay: number | null
  readonly status: string | null
  readonly reason: string | null
  readonly hasFill: boolean
}

/** The service's database after its end, read without the service's code. */
export interface StoredCampaign {
  readonly orders: readonly StoredOrder[]
  /** The order that the log at `<block hash>:<log index>` belongs to. */
  readonly orderOfLog: ReadonlyMap<string, string>
  /** Changes that made orders larger. */
  readonly charges: readonly Pick<StoredOrder, 'agent' | 'spendUsd' | 'spendDay'>[]
  readonly spend: readonly { readonly agent: string; readonly day: number; readonly spentUsd: bigint }[]
  readonly openPositions: readonly { readonly trader: string; readonly tradeIndex: number }[]
  /** Ids of orders and of positions. */
  readonly ids: readonly string[]
}

/** Lists the rows of a statement. Whole numbers are bigint. */
export type ListRows = (text: string) => Promise<readonly Record<string, unknown>[]>

/** Lists rows of a file of SQLite, beside a service that may be running. */
export function rowsOfFile(file: string): ListRows {
  return async (text) => {
    const database = new DatabaseSync(file, { readOnly: true })
    try {
      const statement = database.prepare(text)
      statement.setReadBigInts(true)
      return statement.all()
    } finally {
      database.close()
    }
  }
}

export async function readCampaign(all: ListRows): Promise<StoredCampaign> {
  const orders = (await all('select * from orders order by id')).map(toOrder)
  const logs = await all('select block_hash, log_index, order_id from order_events')
  const charges = await all('select * from change_charges')
  const spend = await all('select * from spend')
  const openPositions = await all('select * from positions where is_open = 1')
  const positions = await all('select id from positions')
  return {
    orders,
    orderOfLog: new Map(logs.map((row) => [`${row.block_hash}:${row.log_index}`, String(row.order_id)])),
    charges: charges.map((row) => ({
      agent: String(row.agent),
      spendUsd: BigInt(String(row.usd)),
      spendDay: row.day === null ? null : Number(row.day),
    })),
    spend: spend.map((row) => ({
      agent: String(row.agent),
      day: Number(row.day),
      spentUsd: BigInt(String(row.spent_usd)),
    })),
    openPositions: openPositions.map((row) => ({
      trader: String(row.trader),
      tradeIndex: Number(row.trade_index),
    })),
    ids: [...orders.map(({ id }) => id), ...positions.map(({ id }) => String(id))],
  }
}

function toOrder(row: Record<string, unknown>): StoredOrder {
  const text = (value: unknown): string | null => (value === null ? null : String(value))
  const state =
    row.state === null ? undefined : (JSON.parse(String(row.state)) as { fill: unknown; reason: string | null })
  return {
    id: String(row.id),
    trader: String(row.trader),
    agent: text(row.agent),
    clientId: text(row.client_id),
    originKey: text(row.origin_key),
    spendUsd: BigInt(String(row.spend_usd)),
    spendDay: row.spend_day === null ? null : Number(row.spend_day),
    status: text(row.status),
    reason: state?.reason ?? null,
    hasFill: state !== undefined && state.fill !== null,
  }
}
