import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Account, AccountEvent } from '@bezel/protocol'
import { createWalletClient, erc20Abi, http, type Address, type Hex } from 'viem'
import { until } from '@bezel/testkit/until.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { startTradingWorld, type TradingWorld } from '@bezel/testkit/tradingWorld.ts'

const REFRESH_MS = 250

describe('what happens to an account without the Diamond', () => {
  let world: TradingWorld
  /** A client signed by the trader itself, so that it can read whoever the delegate is. */
  let reader: TradingClient
  let agent: TradingClient
  /** The sequence number of the last event that a story has seen. */
  let seen: number

  before(async () => {
    world = await startTradingWorld({ service: { BEZEL_ACCOUNT_REFRESH_MS: String(REFRESH_MS) } })
    reader = await world.clientOf('trader-2', 'trader-2')
    agent = await world.clientOf('trader-2', 'agent-2')
    await until('the delegation', async () => statusOf(await account()) === 'active')
    seen = (await events(0)).at(-1)?.seq ?? 0
  })
  after(() => world?.stop())

  async function account(): Promise<Account> {
    const answer = await reader.account('', 'getAccount')
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return answer.body as Account
  }

  async function events(afterSeq: number): Promise<AccountEvent[]> {
    const { status, body } = await reader.account(`/events?after=${afterSeq}`, 'listEvents')
    assert.equal(status, 200, JSON.stringify(body))
    return body.data as AccountEvent[]
  }

  const statusOf = ({ agents }: Account) => agents.find((one) => one.agent === agent.agent.address)!.status
  const usdcOf = ({ balances }: Account) => balances.find(({ collateral }) => collateral === 'USDC')!

  /** Calls the USDC contract directly, without the service. */
  async function send(functionName: 'transfer' | 'approve', to: Address, amount: bigint): Promise<void> {
    const { address } = world.chain.collateral('USDC')
    const wallet = createWalletClient({
      account: reader.trader,
      transport: http(world.devnet.file.chains['arbitrum-sepolia']!.rpcUrl),
    })
    const call = { address, abi: erc20Abi, functionName, args: [to, amount], chain: null } as const
    const hash: Hex = await wallet.writeContract(call as never)
    await world.chain.client.waitForTransactionReceipt({ hash })
  }

  /**
   * Returns the new events, once the last one is as expected. Asserts that all belong to the account, are numbered
   * without a gap, and differ from the one before.
   */
  async function eventsUntil(what: string, isThere: (last: Account) => boolean): Promise<Account[]> {
    const found = await until(what, async () => {
      const all = await events(seen)
      const last = all.at(-1)
      return last?.channel === 'account' && isThere(last.data) ? all : undefined
    })
    found.forEach(({ seq, channel, block, reverted }, at) => {
      assert.deepEqual([seq, channel, block, reverted], [seen + at + 1, 'account', null, false])
    })
    seen += found.length
    return found.map(({ data }) => data as Account)
  }

  async function nothingMore(): Promise<void> {
    await sleep(4 * REFRESH_MS)
    await account()
    assert.deepEqual(await events(seen), [])
  }

  it('is told when tokens leave it, once, as getAccount shows it', async () => {
    const { balance } = usdcOf(await account())
    await send('transfer', world.chain.account('trader-3').address, 1_500_000n)
    const [told, ...others] = await eventsUntil('the transfer', (last) => usdcOf(last).balance !== balance)
    assert.deepEqual(others, [])
    assert.equal(Number(usdcOf(told!).balance), Number(balance) - 1.5)
    assert.deepEqual(await account(), told)
    await nothingMore()
  })

  it('is told when tokens arrive', async () => {
    const old = await account()
    await world.chain.control('bezel_faucet', reader.trader.address)
    const balanceOf = ({ balances }: Account, symbol: string): number =>
      Number(balances.find(({ collateral }) => collateral === symbol)!.balance)
    // The faucet gives some of each token, which may take more than one block.
    const hasMore = (last: Account): boolean =>
      last.balances.every(({ collateral, balance }) => Number(balance) > balanceOf(old, collateral))
    const told = await eventsUntil('the faucet', hasMore)
    assert.deepEqual(await account(), told.at(-1))
    assert.ok(Number(usdcOf(told.at(-1)!).balance) > Number(usdcOf(old).balance))
    assert.equal(new Set(told.map((one) => JSON.stringify(one))).size, told.length)
    await nothingMore()
  })

  it('is told when the allowance of the Diamond changes', async () => {
    for (const [amount, shown] of [
      [0n, '0'],
      [2_500_000n, '2.5'],
    ] as const) {
      await send('approve', world.chain.diamond, amount)
      const told = await eventsUntil('the approval', (last) => usdcOf(last).allowance === shown)
      assert.equal(told.length, 1)
    }
    await nothingMore()
  })

  it('is told when the delegate is removed, and when it is set', async () => {
    await world.chain.send(reader.trader, 'removeTradingDelegate', [])
    assert.equal((await eventsUntil('the removal', (last) => statusOf(last) === 'pending_delegation')).length, 1)
    await world.chain.send(reader.trader, 'setTradingDelegate', [agent.agent.address])
    assert.equal((await eventsUntil('the delegation', (last) => statusOf(last) === 'active')).length, 1)
    await nothingMore()
  })

  it('is not told again after a crash, and what happened meanwhile is', async () => {
    await world.crash()
    await nothingMore()
    await world.stopService()
    await send('approve', world.chain.diamond, 3_000_000n)
    await world.startService()
    await account()
    assert.equal((await eventsUntil('the approval', (last) => usdcOf(last).allowance === '3')).length, 1)
    await nothingMore()
  })
})
