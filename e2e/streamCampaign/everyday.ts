import { setTimeout as sleep } from 'node:timers/promises'
import type { ChainClient } from '@bezel/testkit/chainClient.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'

/** The ordinary load: prices move, orders are prepared, and /health is polled. */
export interface Everyday {
  /** Everything that failed. */
  readonly problems: readonly string[]
  /** Ids of the orders that were answered. */
  readonly orders: readonly string[]
  /** Returns the longest time that an answer of /health took. */
  slowestHealthMs(): number
  /** Resolves when everything that was begun is done. */
  stop(): Promise<void>
}

const PRICE_MS = 60
const ORDER_MS = 2_000
const HEALTH_MS = 250
const HEALTH_TIMEOUT_MS = 120_000
/** Markets with the price around which each moves a little. */
const MOVING = { 'ETH/USD': 3_000, 'SOL/USD': 150, 'BTC/USD': 60_000 }
/** An order at a price that is never reached, so that it only rests. */
const ORDER = { market: 'BTC/USD', side: 'long', type: 'limit', size: '0.01', price: '30000', leverage: '10' }

export function beginEveryday(of: {
  readonly url: string
  readonly chain: ChainClient
  readonly client: TradingClient
}): Everyday {
  const problems: string[] = []
  const orders: string[] = []
  let slowestHealthMs = 0
  const over = new AbortController()

  async function again(everyMs: number, work: (round: number) => Promise<void>): Promise<void> {
    for (let round = 0; !over.signal.aborted; round += 1) {
      await Promise.all([sleep(everyMs), work(round).catch((error: Error) => problems.push(error.message))])
    }
  }

  async function movePrice(round: number): Promise<void> {
    const prices = Object.entries(MOVING)
    const [symbol, usd] = prices[round % prices.length]!
    await of.chain.control('bezel_setPrice', symbol, (usd * (1 + (round % 7) / 1_000)).toFixed(4))
  }

  async function makeOrder(): Promise<void> {
    const { order } = await of.client.prepare({ ...ORDER, collateral: 'USDC' })
    orders.push(order.id)
  }

  async function lookAtHealth(): Promise<void> {
    const startMs = performance.now()
    const { status } = await fetch(`${of.url}/health`, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) })
    slowestHealthMs = Math.max(slowestHealthMs, performance.now() - startMs)
    if (status !== 200) problems.push(`/health was answered with ${status}`)
  }

  const loops = [again(PRICE_MS, movePrice), again(ORDER_MS, makeOrder), again(HEALTH_MS, lookAtHealth)]
  return {
    problems,
    orders,
    slowestHealthMs: () => slowestHealthMs,
    async stop() {
      over.abort()
      await Promise.all(loops)
    },
  }
}
