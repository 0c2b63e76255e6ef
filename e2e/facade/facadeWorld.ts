import assert from 'node:assert/strict'
import type { TransactionRequest } from '@bezel/protocol'
import { createWalletClient, http, type Hex } from 'viem'
import { startTradingWorld, type TradingWorld, type TradingWorldOptions } from '@bezel/testkit/tradingWorld.ts'

const CHAIN = 'arbitrum-sepolia'

/** A trading world, as clients of the facade see it. */
export interface FacadeWorld extends TradingWorld {
  /** What a client is given in place of the exchange's own address. */
  readonly base: string
  readonly socketUrl: string
  readonly markPx: () => Promise<number>
  /** Moves the price, and waits until the facade shows it. */
  moveTo(usd: number): Promise<void>
  keyOf(name: string): Hex
  /** Sends what `approveAgent` asked for, from the wallet of the trader. */
  delegate(trader: string, transaction: TransactionRequest): Promise<void>
  /** One read, without a client. */
  // oxlint-disable-next-line typescript/no-explicit-any -- parsed answers, asserted on by the tests
  info(body: object): Promise<any>
}

export async function startFacadeWorld(options: TradingWorldOptions = {}): Promise<FacadeWorld> {
  const world = await startTradingWorld(options)
  const base = `${world.url()}/hl/${CHAIN}`
  const { file } = world.devnet

  async function info(body: object): Promise<Awaited<ReturnType<FacadeWorld['info']>>> {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${base}/info`, { method: 'POST', headers, body: JSON.stringify(body) })
    assert.equal(answer.status, 200, await answer.clone().text())
    return answer.json()
  }

  const markPx = async (): Promise<number> => Number((await info({ type: 'allMids' })).BTC)

  return {
    ...world,
    base,
    socketUrl: `${base.replace('http', 'ws')}/ws`,
    info,
    markPx,
    async moveTo(usd) {
      await world.setPrice(usd)
      await eventually(`the mark is ${usd}`, async () => (await markPx()) === usd)
    },
    keyOf: (name) => file.accounts.find((account) => account.name === name)!.privateKey,
    async delegate(trader, { to, data }) {
      const wallet = createWalletClient({
        account: world.chain.account(trader),
        transport: http(file.chains[CHAIN]!.rpcUrl),
      })
      const hash = await wallet.sendTransaction({ to: to as Hex, data: data as Hex, chain: null })
      const { status } = await world.chain.client.waitForTransactionReceipt({ hash })
      assert.equal(status, 'success')
    },
  }
}

const POLL_MS = 50
const WAIT_MS = 30_000

/** Waits for a condition, and gives what it found. */
export async function eventually<Found>(what: string, look: () => Found | Promise<Found>): Promise<NonNullable<Found>> {
  for (const deadlineMs = Date.now() + WAIT_MS; Date.now() < deadlineMs;) {
    const found = await look()
    if (found) return found
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  throw new Error(`it did not happen in ${WAIT_MS} ms: ${what}`)
}
