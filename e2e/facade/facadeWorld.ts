import assert from 'node:assert/strict'
import type { TransactionRequest } from '@bezel/protocol'
import { createWalletClient, type Hex } from 'viem'
import { patientHttp } from '@bezel/testkit/chainClient.ts'
import { startTradingWorld, type TradingWorld, type TradingWorldOptions } from '@bezel/testkit/tradingWorld.ts'
import { until } from '@bezel/testkit/until.ts'

const CHAIN = 'arbitrum-sepolia'

/** A trading world, as clients of the facade see it. */
export interface FacadeWorld extends TradingWorld {
  /** The address that a client gets in place of the exchange's own. */
  readonly base: string
  readonly socketUrl: string
  readonly markPx: () => Promise<number>
  /** Moves the price, and waits until the facade shows it. */
  moveTo(usd: number): Promise<void>
  keyOf(name: string): Hex
  /** Sends the transaction that `approveAgent` asked for, from the trader's wallet. */
  delegate(trader: string, transaction: TransactionRequest): Promise<void>
  /** Sends one read, without a client library. */
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
      await until(`the mark is ${usd}`, async (saw) => {
        const mark = await markPx()
        saw(mark)
        return mark === usd
      })
    },
    keyOf: (name) => file.accounts.find((account) => account.name === name)!.privateKey,
    async delegate(trader, { to, data }) {
      const wallet = createWalletClient({
        account: world.chain.account(trader),
        transport: patientHttp(file.chains[CHAIN]!.rpcUrl),
      })
      const hash = await wallet.sendTransaction({ to: to as Hex, data: data as Hex, chain: null })
      const { status } = await world.chain.client.waitForTransactionReceipt({ hash })
      assert.equal(status, 'success')
    },
  }
}
