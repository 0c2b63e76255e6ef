import { setTimeout as sleep } from 'node:timers/promises'
import type { LiveDiamond } from '@bezel/testkit/live/liveDiamond.ts'
import { authorize, createTradingClient } from '@bezel/testkit/tradingClient.ts'

/** A trader who has positions and looks at them. */
export interface ActiveTrader {
  stop(): Promise<void>
}

/** Time between two looks, about that of a program that also listens to the stream. */
const LOOK_MS = 10_000

const LOOKS = [
  ['', 'getAccount'],
  ['/positions', 'listPositions'],
  ['/orders', 'listOpenOrders'],
] as const

/** Registers a trader of the populated Diamond as its own agent, which looks at its account until it is stopped. */
export async function startActiveTrader({ devnet, chain }: LiveDiamond, url: string): Promise<ActiveTrader> {
  const of = { devnet, chain, url: () => url }
  const trader = chain.account('trader-4')
  await authorize(of, trader, trader)
  const client = await createTradingClient(of, trader, trader)
  const ending = new AbortController()

  async function look(): Promise<void> {
    while (!ending.signal.aborted) {
      for (const [path, operation] of LOOKS) {
        const { status, body } = await client.account(path, operation)
        if (status !== 200) console.error(`${operation}: ${status} ${JSON.stringify(body)}`)
      }
      await sleep(LOOK_MS, undefined, { signal: ending.signal }).catch(() => undefined)
    }
  }

  const looking = look()
  return {
    async stop() {
      ending.abort()
      await looking
    },
  }
}
