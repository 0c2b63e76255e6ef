import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Address } from 'viem'
import { readPending } from '../campaign/checkAnswers.ts'
import type { ChainClient } from '@bezel/testkit/chainClient.ts'

const SETTLE_TIMEOUT_MS = 90_000
const POLL_MS = 200

/** Resolves when nothing moves any more: the oracle has answered everything, and everything that was relayed is final. */
export async function settle(chain: ChainClient, traders: readonly Address[], file: string): Promise<void> {
  await chain.control('bezel_setOracleDelay', 50)
  await chain.control('bezel_pauseKeeper', true)
  const isAnswered = async (): Promise<boolean> => {
    const pending = await Promise.all(traders.map((trader) => readPending(chain, trader)))
    return pending.every((orders) => orders.length === 0)
  }
  await until('no order waits for the chain', file, () => countRows(file, WAITING) === 0)
  await until('everything relayed is final', file, () => countRows(file, LIVE) === 0)
  await until('the oracle answers', file, isAnswered)
}

const LIVE = `select count(*) as count from relay_entries where state = 'live'`
const WAITING = `select count(*) as count from orders where status in ('prepared', 'pending')`

async function until(what: string, file: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadlineMs = Date.now() + SETTLE_TIMEOUT_MS; !(await isSo()); await sleep(POLL_MS)) {
    if (Date.now() < deadlineMs) continue
    throw new Error(`it never came to that: ${what}\n${JSON.stringify(read(file, STUCK), null, 1)}`)
  }
}

const STUCK = `select orders.id, status, orders.state, attempts.id as attempt, kind, submitted_hash, nonce, relay_entries.state as entry
  from orders left join attempts on attempts.order_id = orders.id left join relay_entries on attempt_id = attempts.id
  where status in ('prepared', 'pending') or relay_entries.state = 'live' order by nonce limit 20`

function countRows(file: string, query: string): number {
  return Number(read(file, query)[0]?.count)
}

/** Beside the running service. */
function read(file: string, query: string): Record<string, unknown>[] {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    return database.prepare(query).all()
  } finally {
    database.close()
  }
}
