import { setTimeout as sleep } from 'node:timers/promises'
import { readRelayedTransactions } from '@bezel/testkit/relayedTransactions.ts'
import { createChainClient, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet } from '@bezel/testkit/startDevnet.ts'
import { openFacadeTrader, type FacadeTrader } from './facadeTrader.ts'
import { startFacadeService } from './startFacadeService.ts'

const ORDERS = 20
const WITHIN_MS = 1_000
const LAND_MS = 20_000
const POLL_MS = 100
const FIRST_UNITS = 1_001
const UNITS_PER_COIN = 1e5

interface Landed {
  /** Sizes of the orders, in the order in which they are on the chain. */
  readonly units: readonly number[]
  readonly tookMs: number
  readonly sentMs: number
}

/**
 * Sends twenty orders of one trader within a second, without waiting for answers. Returns true when all of them land in
 * the order in which they were sent.
 */
export async function measureBurst(): Promise<boolean> {
  const devnet = await startDevnet({ DEVNET_BLOCK_MS: '100' })
  const service = await startFacadeService(devnet)
  const chain = createChainClient(devnet.file)
  const trader = await openFacadeTrader({ devnet, chain, url: service.url }, 1)
  // Warms up: the first order is slower.
  await trader.place('0.01', '40000')
  await landed(chain, 1)
  const { units, tookMs, sentMs } = await burst(chain, trader)
  trader.close()
  await service.close()
  await devnet.stop()

  const asked = Array.from({ length: ORDERS }, (_, at) => FIRST_UNITS + at)
  const isInOrder = units.join() === asked.join()
  console.log(`${ORDERS} orders of one trader, sent within ${Math.round(sentMs)} ms`)
  console.table({
    landed: { value: units.length, limit: ORDERS, met: units.length === ORDERS },
    'in the order they were sent': { value: isInOrder, limit: true, met: isInOrder },
    'all on the chain after, ms': { value: Math.round(tookMs), limit: '-', met: true },
  })
  return isInOrder
}

async function burst(chain: ChainClient, trader: FacadeTrader): Promise<Landed> {
  const startedMs = performance.now()
  const sent: Promise<unknown>[] = []
  for (let at = 0; at < ORDERS; at += 1) {
    sent.push(trader.place(String((FIRST_UNITS + at) / UNITS_PER_COIN), '40000'))
    await sleep(Math.max(0, startedMs + ((at + 1) * WITHIN_MS) / ORDERS - performance.now()))
  }
  const sentMs = performance.now() - startedMs
  await Promise.all(sent)
  const units = (await landed(chain, ORDERS + 1)).slice(1)
  return { units, sentMs, tookMs: performance.now() - startedMs }
}

/** Returns the sizes on the chain, once there are `count` of them or after `LAND_MS`. */
async function landed(chain: ChainClient, count: number): Promise<readonly number[]> {
  for (const deadlineMs = Date.now() + LAND_MS; ; await sleep(POLL_MS)) {
    const mined = await readRelayedTransactions(chain, chain.account('relayer').address)
    const units = mined.flatMap(({ hasSucceeded, opens }) => (hasSucceeded ? opens.map((open) => open.units) : []))
    if (units.length >= count || Date.now() > deadlineMs) return units
  }
}
