import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { diamondAbi, TradeType } from '@bezel/protocol'
import { BatchNotDoneError, type BezelClient, type Order, type OrderStatus, type TrackedOrder } from '@bezel/sdk'
import { encodeFunctionData, zeroAddress, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { tradeOf } from '@bezel/testkit/chainClient.ts'
import { until } from '@bezel/testkit/until.ts'
import { createBezelCommand, type BezelCommand } from './cli/bezelCommand.ts'
import { SOON, startSdkWorld, type SdkWorld } from './sdk/sdkWorld.ts'

const POSITIONS = 45
/** Orders that rest; with one that is prepared and one that timed out they are 30. */
const RESTING = 28
const OPENED_AT_ONCE = 15
const LIMIT = { market: 'BTC/USD', side: 'long', type: 'limit', size: '0.02', leverage: '10', price: '50000' } as const

describe('the panic button', () => {
  let world: SdkWorld
  let bezel: BezelCommand

  before(async () => {
    world = await startSdkWorld()
    bezel = createBezelCommand(world)
  })
  after(async () => {
    bezel?.close()
    await world?.stop()
  })

  /** Opens trades as the trader does elsewhere, many in one transaction. */
  async function openElsewhere(trader: PrivateKeyAccount, count: number, tradeType: number): Promise<void> {
    const price = tradeType === TradeType.TRADE ? 60_000n : 50_000n
    const trade = tradeOf(world.chain, trader.address, { price, tradeType })
    const args = [trade, 10_000, zeroAddress] as const
    const call = encodeFunctionData({ abi: diamondAbi, functionName: 'openTrade', args })
    for (let left = count; left > 0; left -= OPENED_AT_ONCE) {
      const calls: Hex[] = Array.from({ length: Math.min(left, OPENED_AT_ONCE) }, () => call)
      await world.chain.send(trader, 'multicall', [calls])
    }
  }

  async function untilHeld(client: BezelClient, positions: number, orders: number): Promise<void> {
    await until(`${positions} positions and ${orders} orders`, async (saw) => {
      const held = [(await client.positions.list()).length, (await client.account.openOrders()).length]
      saw(held)
      return held[0] === positions && held[1] === orders
    })
  }

  /** Asserts that the trader has nothing left, by the views of the contracts and by those of the service. */
  async function assertFlat(client: BezelClient): Promise<void> {
    const view = { address: world.chain.diamond, abi: diamondAbi, args: [await client.trader()] } as const
    const read = world.chain.client
    await untilHeld(client, 0, 0)
    assert.deepEqual(await read.readContract({ ...view, functionName: 'getTrades' }), [])
    assert.deepEqual(await read.readContract({ ...view, functionName: 'getPendingOrders' }), [])
  }

  const statuses = (orders: readonly Order[]): Record<string, number> =>
    Object.fromEntries(
      [...Map.groupBy(orders, ({ status }) => status)].map(([status, same]) => [status, same.length]).toSorted(),
    )

  it('ends 30 orders and 45 positions in four transactions, and names the one that waits', async () => {
    const { client, trader } = await world.sdkAccount('trader-1', 'agent-1')
    await openElsewhere(trader, POSITIONS, TradeType.TRADE)
    await untilHeld(client, POSITIONS, 0)
    const [busy] = (await client.positions.list()).toSorted((a, b) => Number(a.id) - Number(b.id))
    // From here on the oracle is silent: a request to open times out, and a change of a position waits.
    await world.chain.control('bezel_pauseOracle', true)
    const late = await client.orders.create({ ...LIMIT, type: 'market', price: '60000' })
    await late.waitFor('pending', SOON)
    await world.chain.control('hardhat_mine', 200)
    await late.waitFor('timed_out', SOON)
    await openElsewhere(trader, RESTING, TradeType.LIMIT)
    const { order: prepared } = await client.orders.prepare(LIMIT)
    await client.positions.update(busy!.id, { leverage: '8' })
    await until('the change waits', async () => (await client.positions.get(busy!.id)).pendingUpdate !== null)
    await untilHeld(client, POSITIONS, RESTING + 2)

    // The oracle stays silent meanwhile: it would still fill the late request, and answer the change that waits.
    const sent = await client.flatten()
    await late.waitFor('canceled', SOON)
    await world.chain.control('bezel_pauseOracle', false)
    assert.equal(sent.txHashes.length, 4)
    assert.deepEqual(
      sent.leftOut.map(({ id, code }) => [id, code]),
      [[busy!.id, 'SIMULATION_REVERTED']],
    )
    assert.match(sent.leftOut[0]!.message, /ConflictingPendingOrder/)
    // On a busy machine a close may wait so long that it has timed out before it is answered.
    const ended = sent.orders.map((order) => order.waitFor(['canceled', 'expired', 'filled'], SOON))
    const orders = await Promise.all(ended)
    assert.deepEqual(statuses(orders), { canceled: RESTING + 1, expired: 1, filled: POSITIONS - 1 })
    assert.equal(orders.find(({ status }) => status === 'expired')?.id, prepared.id)
    const closes = orders.filter(({ reduceOnly }) => reduceOnly)
    assert.deepEqual(new Set(closes.map(({ fill }) => fill?.positionId)).size, POSITIONS - 1)
    const receipts = sent.txHashes.map((hash) => world.chain.client.getTransactionReceipt({ hash }))
    for (const { status } of await Promise.all(receipts)) assert.equal(status, 'success')

    await until('the change was answered', async () => (await client.positions.get(busy!.id)).pendingUpdate === null)
    const again = await client.flatten()
    assert.deepEqual([again.leftOut, again.txHashes.length], [[], 1])
    assert.deepEqual(statuses(await again.wait(SOON)), { filled: 1 })
    await assertFlat(client)
    const nothing = await client.flatten()
    assert.deepEqual([nothing.orders, nothing.leftOut, nothing.txHashes], [[], [], []])
  })

  it('is four pages of next for a client of its own', async () => {
    const { client, trader } = await world.sdkAccount('trader-2', 'agent-2')
    await openElsewhere(trader, 30, TradeType.LIMIT)
    await openElsewhere(trader, 33, TradeType.TRADE)
    await untilHeld(client, 33, 30)
    const sender = await world.clientOf('trader-2', 'agent-2')
    const pages: (string | null)[] = []
    const hashes: Hex[] = []
    let next: string | undefined
    do {
      const body = next === undefined ? {} : { next }
      const { status, body: page } = await sender.request('flatten', 'POST', '/flatten', body)
      assert.equal(status, 200, JSON.stringify(page))
      assert.ok(page.orders.length <= 20 && page.leftOut.length === 0)
      hashes.push(await sender.broadcast(page.transaction))
      const reported = await sender.submit(page.orders.at(-1).id, hashes.at(-1)!)
      assert.equal(reported.status, 200, JSON.stringify(reported.body))
      pages.push(page.next)
      next = page.next ?? undefined
    } while (next !== undefined)
    assert.deepEqual(
      pages.map((cursor) => cursor?.[0] ?? null),
      ['o', 'p', 'p', null],
    )
    await assertFlat(client)
    const { data } = await client.account.orderHistory({ limit: 500 })
    const ofPage = data.filter(({ txHash }) => txHash === hashes[2])
    assert.deepEqual(statuses(ofPage), { filled: 20 })
  })

  it('ends what an earlier press left without an answer', async () => {
    const { client, trader } = await world.sdkAccount('trader-4', 'agent-4')
    await openElsewhere(trader, 25, TradeType.TRADE)
    await untilHeld(client, 25, 0)
    await world.chain.control('bezel_pauseOracle', true)
    const { orders: late } = await client.positions.closeAll()
    const all = (orders: readonly TrackedOrder[], ...ends: readonly OrderStatus[]): Promise<Order[]> =>
      Promise.all(orders.map((order) => order.waitFor(ends, SOON)))
    await all(late, 'pending')
    await world.chain.control('hardhat_mine', 200)
    await all(late, 'timed_out')
    // The closes of the second page are possible once the first one has reclaimed those before.
    const { orders, leftOut } = await client.flatten()
    await world.chain.control('bezel_pauseOracle', false)
    assert.deepEqual(leftOut, [])
    assert.deepEqual(statuses(await all(orders, 'canceled', 'filled')), { canceled: 25, filled: 25 })
    await assertFlat(client)
  })

  it('does not call it done when a close was refused, and says which', async () => {
    const { client, trader } = await world.sdkAccount('trader-4', 'agent-4')
    await openElsewhere(trader, 1, TradeType.TRADE)
    await untilHeld(client, 1, 0)
    await world.chain.control('bezel_pauseOracle', true)
    const sent = await client.flatten({ slippage: '0.1' })
    await world.setPrice(59_000)
    await world.chain.control('bezel_pauseOracle', false)
    const error: unknown = await sent.wait(SOON).catch((reason: unknown) => reason)
    assert.ok(error instanceof BatchNotDoneError, String(error))
    assert.deepEqual(
      error.missed.map(({ id, status, reason }) => [id, status, reason]),
      [[sent.orders[0]!.id, 'rejected', 'SLIPPAGE']],
    )
    await untilHeld(client, 1, 0)
    await world.moveTo(60_000)
    await (await client.flatten()).wait(SOON)
    await assertFlat(client)
  })

  it('prepares a page again that reverted because something ended by itself, then ends the rest alone', async () => {
    const { client, trader } = await world.sdkAccount('trader-5', 'agent-5')
    const receiptsOf = async (hashes: readonly Hex[]): Promise<string[]> =>
      Promise.all(hashes.map(async (hash) => (await world.chain.client.getTransactionReceipt({ hash })).status))
    /** Returns a client before whose first transactions the trader cancels an order of its own, of the lowest index. */
    const overtaken = async (times: number): Promise<BezelClient> => {
      const sender = world.countingSender('agent-5')
      const view = { address: world.chain.diamond, abi: diamondAbi, args: [trader.address] } as const
      const sendTransaction: typeof sender.sendTransaction = async (transaction) => {
        if (sender.count() < times) {
          const [trade] = await world.chain.client.readContract({ ...view, functionName: 'getTrades' })
          await world.chain.send(trader, 'cancelOpenOrder', [trade!.index])
        }
        return sender.sendTransaction(transaction)
      }
      return world.sdkClient('agent-5', { sender: { ...sender, sendTransaction } })
    }
    await openElsewhere(trader, 4, TradeType.LIMIT)
    await openElsewhere(trader, 1, TradeType.TRADE)
    await untilHeld(client, 1, 4)
    const sent = await (await overtaken(1)).flatten()
    assert.deepEqual(await receiptsOf(sent.txHashes), ['reverted', 'success'])
    assert.deepEqual(statuses(await sent.wait(SOON)), { canceled: 3, filled: 1 })
    await assertFlat(client)

    await openElsewhere(trader, 5, TradeType.LIMIT)
    await untilHeld(client, 0, 5)
    // The page reverts each time, and what is left of it in the end is cancelled alone.
    const alone = await (await overtaken(4)).orders.cancelAll()
    assert.deepEqual(await receiptsOf(alone.txHashes), ['reverted', 'reverted', 'reverted', 'reverted', 'success'])
    assert.deepEqual(statuses(await alone.wait(SOON)), { canceled: 1 })
    await assertFlat(client)
  })

  it('ends everything while an order that had timed out is answered after all', async () => {
    const { client, trader } = await world.sdkAccount('trader-5', 'agent-5')
    await openElsewhere(trader, 1, TradeType.TRADE)
    await untilHeld(client, 1, 0)
    await world.chain.control('bezel_pauseOracle', true)
    const late = await client.orders.create({ ...LIMIT, type: 'market', price: '60000' })
    await late.waitFor('pending', SOON)
    await world.chain.control('hardhat_mine', 200)
    await late.waitFor('timed_out', SOON)
    const sender = world.countingSender('agent-5')
    const view = { address: world.chain.diamond, abi: diamondAbi, args: [trader.address] } as const
    const answer = async (): Promise<void> => {
      await world.chain.control('bezel_pauseOracle', false)
      const waiting = { ...view, functionName: 'getPendingOrders' } as const
      await until('it is answered', async () => (await world.chain.client.readContract(waiting)).length === 0)
    }
    // The reclaim is prepared by then, and what the client looks at has changed.
    let answered: Promise<void> | undefined
    const call: typeof sender.call = async (to, data) => {
      await (answered ??= answer())
      return sender.call!(to, data)
    }
    const sent = await world.sdkClient('agent-5', { sender: { ...sender, call } }).flatten()
    await Promise.all(sent.orders.map((order) => order.waitFor(['canceled', 'filled'], SOON)))
    assert.ok(sent.orders.some(({ order }) => order.reduceOnly && order.status === 'filled'))
    await late.waitFor('filled', SOON)
    // Its position may have come too late for the first time.
    await (await client.flatten()).wait(SOON)
    await assertFlat(client)
  })

  it('is one word on the command line', async () => {
    const { client, trader } = await world.sdkAccount('trader-3', 'agent-3')
    const key = (name: string): Hex => world.devnet.file.accounts.find((account) => account.name === name)!.privateKey
    const env = { BEZEL_AGENT_KEY: key('agent-3'), BEZEL_TRADER: trader.address }
    await openElsewhere(trader, 3, TradeType.LIMIT)
    await openElsewhere(trader, 3, TradeType.TRADE)
    await untilHeld(client, 3, 3)
    const cancelled = await bezel.run('cancel --all --market btc --json', env)
    assert.equal(cancelled.code, 0, cancelled.stderr)
    assert.deepEqual(statuses(cancelled.json.orders), { canceled: 3 })
    const closed = await bezel.run('close --all --slippage 2', env)
    assert.equal(closed.code, 0, closed.stderr)
    assert.match(
      closed.stdout,
      /^ID +MARKET +SIDE +TYPE +SIZE +PRICE +STATUS\n(?:\d+ +BTC\/USD +short +close .* filled\n){3}/,
    )
    const nothing = await bezel.run('flatten', env)
    assert.equal(nothing.code, 0, nothing.stderr)
    assert.match(nothing.stdout, /There was nothing to end/)
    await assertFlat(client)

    // A change that waits for the oracle is in the way of a close.
    await openElsewhere(trader, 1, TradeType.TRADE)
    await untilHeld(client, 1, 0)
    const [position] = await client.positions.list()
    await world.chain.control('bezel_pauseOracle', true)
    await client.positions.update(position!.id, { leverage: '8' })
    await until('the change waits', async () => (await client.positions.get(position!.id)).pendingUpdate !== null)
    const left = await bezel.run('flatten --json', env)
    assert.equal(left.code, 4, left.stderr)
    assert.deepEqual([left.json.error.code, left.json.error.details.leftOut[0].id], ['LEFT_OUT', position!.id])
    await world.chain.control('bezel_pauseOracle', false)
    await until(
      'the change was answered',
      async () => (await client.positions.get(position!.id)).pendingUpdate === null,
    )
    assert.equal((await bezel.run('flatten', env)).code, 0)
    await assertFlat(client)
    for (const line of ['cancel', 'close', 'cancel 1 --all', 'close --all --size 1', 'close 1 --market btc']) {
      assert.equal((await bezel.run(line, env)).code, 2, line)
    }
    bezel.assertDiscreet([key('agent-3')])
  })
})
