import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Order } from '@bezel/protocol'
import { UNLIMITED_SCOPE, type Answer } from '@bezel/testkit/agentClient.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { erc20Abi, formatUnits } from 'viem'
import { openFacadeDesk } from './sizePromise/desks.ts'
import { startSizeWorld, type SizedMarket, type SizeWorld } from './sizePromise/sizeWorld.ts'

// What traders saw before a size was a promise, and must never see again. `sizePromise.test.ts` holds the rule itself.

const MARKET = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.01', leverage: '10' }
const LIMIT = { market: 'SOL/USD', side: 'long', type: 'limit', size: '10', price: '118', leverage: '5' }

describe('sizes that were asked for', () => {
  let world: SizeWorld
  let client: TradingClient
  let sol: SizedMarket

  before(async () => {
    world = await startSizeWorld()
    client = await world.clientOf('trader-1', 'agent-1')
    sol = world.markets.find(({ symbol }) => symbol === 'SOL/USD')!
  })
  after(() => world?.stop())

  async function balance(): Promise<number> {
    const { address, decimals } = world.chain.collateral('USDC')
    const args = [client.trader.address] as const
    const units = await world.chain.client.readContract({ address, abi: erc20Abi, functionName: 'balanceOf', args })
    return Number(formatUnits(units, decimals))
  }

  const update = (of: TradingClient, id: string, body: object): Promise<Answer> =>
    of.request('updateOrder', 'PATCH', `/orders/${id}`, body)

  async function change(of: TradingClient, id: string, body: Partial<Order>): Promise<void> {
    const { status, body: answer } = await update(of, id, body)
    assert.equal(status, 200, JSON.stringify(answer))
    await of.broadcast(answer.transaction)
    await of.orderOnce(id, (order) => Object.entries(body).every(([name, value]) => order[name as 'size'] === value))
  }

  it('0.01 BTC with a protective price 90 % above the mark are 0.01 BTC', async () => {
    const had = await balance()
    const { fill, size } = await client.trade({ ...MARKET, price: '114000' }, 'filled')
    assert.equal(size, '0.01')
    assert.ok(Math.abs(Number(fill!.size) - 0.01) < 1e-9, fill!.size)
    const paid = had - (await balance())
    assert.ok(paid > 60 && paid < 60.1, `${paid} USDC were taken`)
  })

  it('10 SOL that are given another price are 10 SOL', async () => {
    await world.moveMark(sol, 120)
    const { id } = await client.trade(LIMIT, 'open')
    await change(client, id, { price: '66' })
    assert.equal((await client.order(id)).size, '10')
    await change(client, id, { price: '119' })
    await world.moveMark(sol, 117)
    const { fill, size } = await client.orderOnce(id, ({ status }) => status === 'filled')
    assert.equal(size, '10')
    assert.ok(Math.abs(Number(fill!.size) - 10) < 0.01, fill!.size)
  })

  it('10 SOL that are modified through the facade are 10 SOL', async () => {
    const desk = await openFacadeDesk(world, 'trader-2', 'agent-2')
    await world.moveMark(sol, 120)
    const drawn = { ...LIMIT, market: sol, collateral: 'USDC', slippage: '1' } as const
    const id = await desk.place({ ...drawn, side: 'long', type: 'limit' }, async () => undefined)
    await desk.orderOnce(id, ({ status }) => status === 'open')
    for (const price of ['66', '119']) {
      await desk.change(id, { ...drawn, side: 'long', type: 'limit', price }, ['price'])
      await desk.orderOnce(id, (order) => order.price === price)
    }
    await world.moveMark(sol, 117)
    const { fill, size } = await desk.orderOnce(id, ({ status }) => status === 'filled')
    assert.equal(size, '10')
    assert.ok(Math.abs(Number(fill!.size) - 10) < 0.01, fill!.size)
  })

  it('an agent makes a resting order larger as long as its daily cap holds, and gets it back', async () => {
    const scope = { ...UNLIMITED_SCOPE, dailySpendCapUsd: '5000' }
    const capped = await world.clientOf('trader-4', 'agent-4', scope)
    await world.moveMark(sol, 120)
    const { id } = await capped.trade({ ...LIMIT, price: '100' }, 'open')
    await change(capped, id, { size: '30' })
    const refused = await update(capped, id, { size: '60' })
    assert.deepEqual([refused.status, refused.body.code], [403, 'SCOPE_SPEND_CAP_EXCEEDED'])
    // 10 SOL at 100 and the difference to 30 count; the difference to 60 does not fit.
    assert.ok(Math.abs(Number(refused.body.details.spentUsd) - 3_000) < 10, refused.body.details.spentUsd)
    assert.ok(Math.abs(Number(refused.body.details.notionalUsd) - 3_000) < 10, refused.body.details.notionalUsd)
    await change(capped, id, { price: '110' })
    const higher = await update(capped, id, { size: '50' })
    assert.deepEqual([higher.status, higher.body.code], [403, 'SCOPE_SPEND_CAP_EXCEEDED'])
    const cancel = await capped.request('cancelOrder', 'DELETE', `/orders/${id}`)
    await capped.broadcast(cancel.body.transaction)
    await capped.orderOnce(id, ({ status }) => status === 'canceled')
    assert.equal((await capped.prepare({ ...LIMIT, price: '100', size: '49' })).order.status, 'prepared')
  })
})
