import { isDeepStrictEqual } from 'node:util'
import type { ChainSlug, Order, OrderId } from '@bezel/protocol'
import { readOrderAtClock } from '../../packages/server/src/orders/orderAtClock.ts'
import { readCommitPoint } from '../../packages/server/src/store/chainTimeStore.ts'
import { findOrder } from '../../packages/server/src/store/orderStore.ts'
import type { Sql } from '../../packages/server/src/store/sql.ts'
import { ORDER_TRANSITIONS, type OrderStanding } from '../../packages/server/src/trading/orders/orderTransitions.ts'

/** Returns everything in a database of PostgreSQL that contradicts itself. */
export async function storedProblems(sql: Sql, timeoutBlocks: number): Promise<string[]> {
  return [
    ...(await gapsOfLogs(sql)),
    ...(await problemsOfSpend(sql)),
    ...(await problemsOfFolds(sql, timeoutBlocks)),
    ...(await problemsOfClaims(sql)),
    ...(await problemsOfTransitions(sql)),
  ]
}

/** The events of each log are numbered 1, 2, 3 ... up to the last number given out. */
async function gapsOfLogs(sql: Sql): Promise<string[]> {
  const rows = await sql.all<{ trader: string; last_seq: bigint; events: bigint; last: bigint }>(
    `select trader, last_seq, count(e.seq) as events, coalesce(max(e.seq), 0) as last
     from account_logs l left join account_events e on e.log_id = l.id
     group by l.id having count(e.seq) <> last_seq or coalesce(max(e.seq), 0) <> last_seq`,
  )
  return rows.map((row) => `the log of ${row.trader} has ${row.events} events, the last ${row.last} of ${row.last_seq}`)
}

/** The spend of each agent and day is the sum of the orders and changes that count on it. */
async function problemsOfSpend(sql: Sql): Promise<string[]> {
  const rows = await sql.all<{ agent: string; day: bigint; spent: string; sum: string }>(
    `select agent, day, spent::text as spent, sum::text as sum from
       (select chain, agent, day, spent_usd::numeric as spent from spend) s
       full join
       (select chain, agent, day, sum(usd) as sum from
          (select chain, agent, spend_day as day, spend_usd::numeric as usd from orders where spend_day is not null
           union all
           select o.chain, c.agent, c.day, c.usd::numeric from change_charges c join orders o on o.id = c.order_id
           where c.day is not null) as counted
        group by chain, agent, day) o using (chain, agent, day)
     where coalesce(spent, 0) <> coalesce(sum, 0)`,
  )
  return rows.map(({ agent, day, spent, sum }) => `the spend of ${agent} on day ${day} is ${spent}, its orders ${sum}`)
}

/** Each stored state is what its order folds to at the time and head of the last commit. */
async function problemsOfFolds(sql: Sql, timeoutBlocks: number): Promise<string[]> {
  const problems: string[] = []
  const rows = await sql.all<{ id: bigint; chain: string }>('select id, chain from orders order by id')
  for (const { id, chain } of rows) {
    const { committedAtMs, head } = await readCommitPoint(sql, chain as ChainSlug)
    const stored = (await findOrder(sql, String(id) as OrderId))!
    // A timeout is told by the blocks alone, and keeps the time at which it was seen.
    if (stored.state?.status === 'timed_out') continue
    const clock = {
      nowMs: committedAtMs,
      headBlock: head?.number ?? 0,
      headMs: head?.timestampMs ?? 0,
      timeoutBlocks,
    }
    const folded = (await readOrderAtClock(sql, stored, clock))?.state
    if (isDeepStrictEqual(folded, stored.state)) continue
    problems.push(`order ${id} is ${JSON.stringify(stored.state)}, its fold ${JSON.stringify(folded)}`)
  }
  return problems
}

/** Every unproven agent has a claim and every claim of an agent its record, and claims are counted as they are. */
async function problemsOfClaims(sql: Sql): Promise<string[]> {
  const rows = await sql.all<{ problem: string }>(
    `select 'the agent ' || chain || ' ' || agent || ' has no claim' as problem from agents
       where standing in (0, 3) and not exists (select 1 from claims where subject = chain || ' ' || agent)
     union all
     select 'the claim ' || subject || ' is of no agent' from claims
       where subject !~ ' .* ' and not exists
         (select 1 from agents where subject = chain || ' ' || agent and standing in (0, 3))
     union all
     select 'the network ' || n.network || ' counts ' || n.held from claim_networks n
       where n.held <> (select count(*) from claims c where n.network = '' or c.network = n.network)`,
  )
  return rows.map(({ problem }) => problem)
}

/** Returns the statuses that an order can have after another, with or without others between them. */
function statusesAfter(from: OrderStanding): ReadonlySet<OrderStanding> {
  const found = new Set<OrderStanding>([from])
  for (const status of found) for (const next of Object.values(ORDER_TRANSITIONS[status])) found.add(next)
  return found
}

/** The statuses that were told of each order follow each other as the table of transitions allows it. */
async function problemsOfTransitions(sql: Sql): Promise<string[]> {
  const problems: string[] = []
  const told = new Map<string, OrderStanding>()
  const rows = await sql.all<{ data: string; is_reverted: bigint }>(
    `select data, is_reverted from account_events where channel = 'orders' order by log_id, seq`,
  )
  for (const { data, is_reverted: isReverted } of rows) {
    const { id, status } = JSON.parse(data) as Pick<Order, 'id' | 'status'>
    const before = told.get(id) ?? 'absent'
    told.set(id, status)
    // A reorganisation takes events away, after which an order may be anything that it was before.
    if (isReverted === 0n && !statusesAfter(before).has(status))
      problems.push(`order ${id} was ${before}, then ${status}`)
  }
  return problems
}
