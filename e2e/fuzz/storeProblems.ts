import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

type OrderRow = {
  readonly id: number
  readonly agent: string | null
  readonly status: string | null
  readonly state: string | null
  readonly spend_usd: string
  readonly spend_day: number | null
}

/** An amount that counts against a cap: of an order, or of a change that made it larger. */
type ChargeRow = Pick<OrderRow, 'agent' | 'spend_usd' | 'spend_day'>

type SpendRow = {
  readonly agent: string
  readonly day: number
  readonly spent_usd: string
}

const UNFILLED_ENDS: ReadonlySet<string | null> = new Set(['expired', 'rejected', 'canceled'])

/**
 * Returns the problems in the data file of a running service, read at one moment from outside. Does not check spending
 * caps: an order mined after its expiry, or twice, counts beyond its cap, and the fuzz does both.
 */
export function storeProblems(dataFolder: string): readonly string[] {
  const database = new DatabaseSync(join(dataFolder, 'bezel.db'), { readOnly: true })
  try {
    database.exec('begin')
    const orders = database
      .prepare('select id, agent, status, state, spend_usd, spend_day from orders')
      .all() as OrderRow[]
    const charges = database
      .prepare('select agent, usd as spend_usd, day as spend_day from change_charges')
      .all() as ChargeRow[]
    const spend = database.prepare('select agent, day, spent_usd from spend').all() as SpendRow[]
    const broken = database.prepare('pragma foreign_key_check').all()
    const [integrity] = database.prepare('pragma integrity_check').all()
    return [
      ...orders.flatMap(orderProblems),
      ...spendProblems([...orders, ...charges], spend),
      ...broken.map((row) => `a reference leads nowhere: ${JSON.stringify(row)}`),
      ...(integrity?.integrity_check === 'ok' ? [] : [`the file is damaged: ${JSON.stringify(integrity)}`]),
    ]
  } finally {
    database.close()
  }
}

function orderProblems({ id, agent, status, state, spend_usd, spend_day }: OrderRow): string[] {
  const folded = state === null ? null : (JSON.parse(state) as { status: string; fill: unknown })
  const problems: string[] = []
  if ((folded?.status ?? null) !== status) problems.push(`order ${id} is ${status} and ${folded?.status}`)
  const counts = folded !== null && (folded.fill !== null || !UNFILLED_ENDS.has(status))
  const shouldCount = agent !== null && BigInt(spend_usd) !== 0n && counts
  if (shouldCount !== (spend_day !== null)) problems.push(`order ${id}, ${status}, counts on the day ${spend_day}`)
  return problems
}

function spendProblems(charges: readonly ChargeRow[], spend: readonly SpendRow[]): string[] {
  const sums = new Map<string, bigint>()
  for (const { agent, spend_day, spend_usd } of charges) {
    if (spend_day === null) continue
    const key = `${agent} ${spend_day}`
    sums.set(key, (sums.get(key) ?? 0n) + BigInt(spend_usd))
  }
  const kept = new Map(spend.map(({ agent, day, spent_usd }) => [`${agent} ${day}`, BigInt(spent_usd)]))
  return [...new Set([...sums.keys(), ...kept.keys()])]
    .filter((key) => (sums.get(key) ?? 0n) !== (kept.get(key) ?? 0n))
    .map((key) => `spend of ${key} is ${kept.get(key)}, its orders are ${sums.get(key)}`)
}
