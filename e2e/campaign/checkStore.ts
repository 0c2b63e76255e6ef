import type { ChainTruth, Creation } from './chainTruth.ts'
import type { StoredCampaign, StoredOrder } from './storedOrders.ts'

const UNSPENT: ReadonlySet<string | null> = new Set(['expired', 'rejected', 'canceled'])

/** Returns everything in the store that contradicts itself or the chain. */
export function problemsOfStore(stored: StoredCampaign, truth: ChainTruth): string[] {
  return [
    ...doubles('id', stored.ids),
    ...doubles(
      'clientId',
      stored.orders.map(({ trader, clientId }) => clientId && `${trader} ${clientId}`),
    ),
    ...doubles(
      'origin',
      stored.orders.map(({ originKey }) => originKey),
    ),
    ...problemsOfSpend(stored),
    ...problemsOfCreations(stored, truth),
    ...problemsOfKeeperCloses(stored, truth),
  ]
}

function doubles(what: string, values: readonly (string | null)[]): string[] {
  const seen = new Set<string>()
  return values
    .filter((value) => value !== null)
    .filter((value) => seen.has(value) || !seen.add(value))
    .map((value) => `${what} ${value} is there twice`)
}

/**
 * Checks that the spend of each day is the sum of the orders that count on it, and of the changes that made orders
 * larger, which were not given back.
 */
function problemsOfSpend({ orders, charges, spend }: StoredCampaign): string[] {
  const sums = new Map<string, bigint>()
  for (const { agent, spendDay, spendUsd } of [...orders, ...charges]) {
    const key = `${agent} on day ${spendDay}`
    if (spendDay !== null) sums.set(key, (sums.get(key) ?? 0n) + spendUsd)
  }
  const problems = orders
    .filter((order) => isCounted(order) !== mustCount(order))
    .map(({ id, status }) => {
      return `order ${id} is ${status} and counts against the cap as if it were not`
    })
  for (const { agent, day, spentUsd } of spend) {
    const key = `${agent} on day ${day}`
    const sum = sums.get(key) ?? 0n
    sums.delete(key)
    if (sum !== spentUsd) problems.push(`the spend of ${key} is ${spentUsd}, its orders sum to ${sum}`)
  }
  return [...problems, ...[...sums].map(([key, sum]) => `the spend of ${key} is missing: ${sum}`)]
}

const isCounted = ({ spendDay }: StoredOrder): boolean => spendDay !== null

function mustCount({ agent, spendUsd, status, hasFill }: StoredOrder): boolean {
  return agent !== null && spendUsd > 0n && status !== null && (hasFill || !UNSPENT.has(status))
}

/**
 * Checks that each log that created an order belongs to one, and that the order's status is the outcome on the chain.
 */
function problemsOfCreations({ orders, orderOfLog }: StoredCampaign, { creations }: ChainTruth): string[] {
  const problems: string[] = []
  const madeBy = new Map<string, Creation[]>()
  for (const creation of creations) {
    const orderId = orderOfLog.get(`${creation.blockHash}:${creation.logIndex}`)
    if (orderId === undefined) problems.push(`no order knows the log ${creation.logIndex} of ${creation.txHash}`)
    else madeBy.set(orderId, [...(madeBy.get(orderId) ?? []), creation])
  }
  for (const order of orders) {
    const { id, status, trader, originKey } = order
    const made = madeBy.get(id) ?? []
    // One that was found on a block since undone keeps its id and nothing else.
    if (status === null && originKey !== null && made.length === 0) continue
    if (made.some((creation) => creation.trader !== trader)) problems.push(`order ${id} has a log of another trader`)
    const isKeepers = /^(tp|sl|liq):/.test(order.originKey ?? '')
    const expected = isKeepers ? ['filled'] : statusesOf(made)
    if (!expected.includes(status ?? 'absent')) {
      problems.push(`order ${id} is ${status}, the chain says ${expected.join(' or ')}`)
    }
  }
  return problems
}

/**
 * Returns the allowed statuses of an order with these creations. The last one counts, because only a replacement is
 * created again.
 */
export function statusesOf(made: readonly Creation[]): readonly string[] {
  const last = made.at(-1)
  if (last === undefined) return ['expired', 'rejected']
  const legs = made.filter(({ txHash }) => txHash === last.txHash).map(({ outcome }) => outcome)
  if (legs.includes('waiting')) return ['pending', 'timed_out']
  if (legs.includes('executed')) return ['filled']
  if (legs.includes('refused')) return ['rejected']
  return [legs.includes('resting') ? 'open' : 'canceled']
}

function problemsOfKeeperCloses({ orders }: StoredCampaign, { keeperCloses }: ChainTruth): string[] {
  const known = orders.filter(({ originKey, status }) => /^(tp|sl|liq):/.test(originKey ?? '') && status !== null)
  if (known.length === keeperCloses) return []
  return [`the keeper closed ${keeperCloses} positions, ${known.length} are known`]
}
