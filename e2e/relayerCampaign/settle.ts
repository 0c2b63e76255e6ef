import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import type { Address } from 'viem'
import { readPending } from '../campaign/checkAnswers.ts'
import type { ListRows } from '../campaign/storedOrders.ts'
import type { ChainClient } from '@bezel/testkit/chainClient.ts'
import { PATIENCE_MS } from '@bezel/testkit/until.ts'

/**
 * Longest wait. An order that the oracle never answers takes 20 s to time out, and its reclaim another 7 s to be final.
 */
const SETTLE_TIMEOUT_MS = PATIENCE_MS
const POLL_MS = 200

/**
 * Counts orders that wait or are reclaimed, and nonces whose transaction is not final. One statement sees one moment.
 */
const MOVING = `select
  (select count(*) from orders where status in ('prepared', 'pending', 'timed_out')) +
  (select count(*) from relay_entries where state = 'live') as count`

const STUCK = `select orders.id, status, orders.state, attempts.id as attempt, kind, submitted_hash, nonce, relay_entries.state as entry
  from orders left join attempts on attempts.order_id = orders.id left join relay_entries on attempt_id = attempts.id
  where status in ('prepared', 'pending', 'timed_out') or relay_entries.state = 'live' order by nonce limit 20`

/**
 * Resolves when nothing changes any more: the oracle has answered everything, and everything relayed is final. Both
 * must hold at the same time, and the chain is read first: the service relays a reclaim of orders that the oracle
 * answered too late, possibly long after everything else is final. A reclaim is in the store before it is on the chain,
 * so once nothing is pending on the chain, the store shows it.
 */
export async function settle(chain: ChainClient, traders: readonly Address[], listRows: ListRows): Promise<void> {
  await chain.control('bezel_setOracleDelay', 50)
  await chain.control('bezel_pauseKeeper', true)
  const isAnswered = async (): Promise<boolean> => {
    const pending = await Promise.all(traders.map((trader) => readPending(chain, trader)))
    return pending.every((orders) => orders.length === 0)
  }
  const isQuiet = async (): Promise<boolean> => (await isAnswered()) && Number((await listRows(MOVING))[0]?.count) === 0
  for (const deadlineMs = Date.now() + SETTLE_TIMEOUT_MS; !(await isQuiet()); await sleep(POLL_MS)) {
    if (Date.now() < deadlineMs) continue
    const answered = `the oracle has ${(await isAnswered()) ? '' : 'not '}answered everything`
    throw new Error(`something still moves; ${answered}\n${inspect(await listRows(STUCK))}`)
  }
}
