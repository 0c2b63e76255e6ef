import { setTimeout as sleep } from 'node:timers/promises'
import type { Order } from '@bezel/protocol'
import type { ChainClient } from '@bezel/testkit/chainClient.ts'
import { PATIENCE_MS } from '@bezel/testkit/until.ts'
import type { CampaignClient } from './campaignClient.ts'
import { readPending } from './checkAnswers.ts'
import type { Journal } from './journal.ts'

const QUIET_TIMEOUT_MS = PATIENCE_MS
const POLL_MS = 100
/** The statuses of orders that wait for a transaction or for an answer of the oracle. */
const WAITING: ReadonlySet<Order['status']> = new Set(['prepared', 'pending'])

/** Resolves when nothing changes any more: everything is mined and answered, and the service waits for nothing. */
export async function quiesce(
  chain: ChainClient,
  clients: readonly CampaignClient[],
  { broadcasts }: Pick<Journal, 'broadcasts'>,
): Promise<void> {
  await chain.control('bezel_setOracleDelay', 50)
  for (const { hash } of broadcasts.slice(-50)) await chain.client.waitForTransactionReceipt({ hash })
  await chain.control('bezel_pauseKeeper', true)
  for (const client of clients) {
    await until('the oracle answers', async () => (await readPending(chain, client.trader.address)).length === 0)
  }
  for (const client of clients) {
    await until('no order waits', async () => {
      const { body } = await client.ask('listOpenOrders', 'GET', `/account/${client.trader.address}/orders`)
      return (body.data as Order[]).every(({ status }) => !WAITING.has(status))
    })
  }
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const deadlineMs = Date.now() + QUIET_TIMEOUT_MS; !(await isSo()); await sleep(POLL_MS)) {
    if (Date.now() > deadlineMs) throw new Error(`it never came to that: ${what}`)
  }
}
