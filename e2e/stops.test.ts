import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { ownDetails } from '@bezel/testkit/ownDetails.ts'
import { diamondAbi, Price, type Order, type Position, type PreparedTransaction, type Warning } from '@bezel/protocol'
import type { ExchangeAction } from '../packages/server/src/facade/signing/envelope.ts'
import { signL1, signUserSigned } from '@bezel/testkit/signEnvelope.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { until } from '@bezel/testkit/until.ts'
import { erc20Abi, formatUnits } from 'viem'
import { SOON, startSdkWorld, type SdkWorld } from './sdk/sdkWorld.ts'

const MARKET = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' } as const
const LIMIT = { ...MARKET, type: 'limit', price: '59000' }

describe('stops mean what the answers say', () => {
  let world: SdkWorld
  let client: TradingClient

  before(async () => {
    // The facade holds its answers for longer than a busy machine needs, so that they tell the outcome.
    world = await startSdkWorld({ service: { BEZEL_FACADE_FILL_WAIT_MS: '60000' } })
    client = await world.clientOf('trader-1', 'agent-1')
  })
  after(() => world?.stop())

  const positions = async () => (await client.account('/positions', 'listPositions')).body.data
  const position = async () => (await positions())[0]
  function positionOnce(isExpected: (position: Position) => boolean): Promise<Position> {
    return until(`a position with ${isExpected}`, async (saw) => {
      const now: Position = await position()
      saw(now)
      return isExpected(now) ? now : undefined
    })
  }
  const patch = (id: string, body: unknown) => client.request('updatePosition', 'PATCH', `/positions/${id}`, body)

  /** Reads the stop losses of a trader's trades and resting orders from the Diamond itself. */
  async function chainStops(trader = client.trader.address): Promise<readonly string[]> {
    const of = { address: world.chain.diamond, abi: diamondAbi, functionName: 'getTrades', args: [trader] } as const
    return (await world.chain.client.readContract(of)).map(({ sl }) => Price.format(Price.of(sl)))
  }

  /** Reads the closing slippage of a trader's only trade from the Diamond itself, 1e3 per percent. */
  async function closingSlippageP(trader: `0x${string}`): Promise<number> {
    const of = { address: world.chain.diamond, abi: diamondAbi, args: [trader] } as const
    const trades = await world.chain.client.readContract({ ...of, functionName: 'getTrades' })
    const infos = await world.chain.client.readContract({ ...of, functionName: 'getTradeInfos' })
    return infos[trades.findIndex(({ isOpen }) => isOpen)]!.maxSlippageP
  }

  async function prepared(answer: Awaited<ReturnType<typeof patch>>): Promise<readonly Warning[] | undefined> {
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    await client.broadcast(answer.body.transaction)
    return answer.body.warnings
  }

  async function closeAll(): Promise<void> {
    for (const { id } of await positions()) {
      const { status: code, body } = await client.request('closePosition', 'POST', `/positions/${id}/close`, {})
      assert.equal(code, 200, JSON.stringify(body))
      await client.broadcast(body.transaction)
      await client.orderOnce(body.order.id, ({ status }) => status === 'filled')
    }
    await until('nothing is open', async () => (await positions()).length === 0)
  }

  function assertClamped(warnings: readonly Warning[] | undefined, asked: string, value: string): void {
    const [warning, ...others] = warnings ?? []
    assert.deepEqual(others, [])
    assert.deepEqual(
      [warning?.code, warning?.field, warning?.asked, warning?.value],
      ['sl_clamped', 'sl', asked, value],
    )
  }

  it('of a position: refused on the wrong side, moved when too far, sent back as read, cleared', async () => {
    await client.trade(MARKET, 'filled')
    const { id } = await position()
    for (const [field, value] of [
      ['sl', '99999'],
      ['tp', '50000'],
    ] as const) {
      const { status, body } = await patch(id, { [field]: value })
      assert.deepEqual([status, body.code], [422, 'UNSUPPORTED'], JSON.stringify(body))
      const { reference, ...details } = ownDetails(body.details)
      assert.deepEqual(details, { field, value, side: 'long' })
      assert.ok(Math.abs(Number(reference) - 60_000) < 60, String(reference))
    }
    assert.deepEqual(await chainStops(), ['0'])

    const far = await patch(id, { sl: '40000' })
    const told = far.body.position.sl
    assertClamped(await prepared(far), '40000', told)
    assert.deepEqual(await chainStops(), [told])
    await positionOnce((now) => now.sl === told)

    assert.ok(told.split('.')[1]?.length > 2, 'it has more decimals than the market takes')
    assert.equal(await prepared(await patch(id, { sl: told })), undefined)
    assert.deepEqual(await chainStops(), [told])
    const other = await patch(id, { sl: `${told}1` })
    assert.deepEqual([other.status, other.body.code], [422, 'PRECISION_ERROR'])

    const raised = await patch(id, { leverage: '20' })
    assertClamped(raised.body.warnings, told, raised.body.warnings[0].value)
    await prepared(raised)
    await positionOnce((now) => now.sl === raised.body.warnings[0].value)
    assert.deepEqual(await chainStops(), [raised.body.warnings[0].value])

    assert.equal(await prepared(await patch(id, { sl: '0' })), undefined)
    assert.deepEqual(await chainStops(), ['0'])
    await closeAll()
  })

  it('of a position: one that was accepted protects it', async () => {
    await client.trade(MARKET, 'filled')
    const { id } = await position()
    await prepared(await patch(id, { sl: '58500' }))
    await positionOnce((now) => now.sl === '58500')
    await world.setPrice(57_900)
    await until('the stop has closed it', async () => (await positions()).length === 0)
    const [fill] = (await client.account('/fills?limit=1', 'listFills')).body.data
    assert.deepEqual([fill.action, fill.positionId], ['TradeClosedSL', id])
    await world.moveTo(60_000)
  })

  it('of a resting order: prepared as asked, on chain as the chain has it, compared by what was asked', async () => {
    const asked = { ...LIMIT, sl: '40000', clientId: 'far-stop' }
    const create = (body: object) => client.request('createOrder', 'POST', '/orders', body)
    const { body: made } = await create(asked)
    const { order, transaction, warnings } = made as {
      order: Order
      transaction: PreparedTransaction
      warnings: Warning[]
    }
    assert.equal(order.sl, '40000')
    const value = warnings[0]!.value!
    assertClamped(warnings, '40000', value)
    const again = await create(asked)
    assert.deepEqual([again.status, again.body.warnings], [200, warnings])

    await client.broadcast(transaction)
    const open = await client.orderOnce(order.id, ({ status }) => status === 'open')
    assert.equal(open.sl, value)
    assert.deepEqual(await chainStops(), [value])
    const repeat = await create(asked)
    assert.deepEqual([repeat.status, repeat.body.order.id, repeat.body.order.sl], [200, order.id, value])
    assert.equal((await create({ ...asked, sl: value })).status, 409)

    const update = (body: object) => client.request('updateOrder', 'PATCH', `/orders/${order.id}`, body)
    const same = await update({ sl: open.sl, price: open.price, tp: '70000' })
    assert.equal(await prepared(same), undefined)
    await client.orderOnce(order.id, ({ tp }) => tp === '70000')
    assert.deepEqual(await chainStops(), [value])
    const moved = await update({ price: '59500' })
    const further = moved.body.order.sl
    assertClamped(await prepared(moved), value, further)
    await client.orderOnce(order.id, ({ price, sl }) => price === '59500' && sl === further)
    assert.deepEqual(await chainStops(), [further])

    await world.setPrice(59_400)
    const filled = await client.orderOnce(order.id, ({ status }) => status === 'filled')
    assert.deepEqual(await chainStops(), [filled.sl])
    await world.moveTo(60_000)
    await closeAll()
  })

  it('of a market order: estimated, and exact once it is filled', async () => {
    const body = { ...MARKET, sl: '40000' }
    const answer = await client.request('createOrder', 'POST', '/orders', body)
    const [{ value, message }] = answer.body.warnings
    assertClamped(answer.body.warnings, '40000', value)
    assert.match(message, /estimated/)
    await client.broadcast(answer.body.transaction)
    const filled = await client.orderOnce(answer.body.order.id, ({ status }) => status === 'filled')
    assert.deepEqual(await chainStops(), [filled.sl])
    assert.equal((await position()).sl, filled.sl)
    assert.ok(Math.abs(Number(filled.sl) / Number(value) - 1) < 0.001, `${filled.sl} for ${value}`)
    await closeAll()
  })

  it('of an entry: a stop order that the price has left behind is refused', async () => {
    const behind = await client.request('createOrder', 'POST', '/orders', { ...MARKET, type: 'stop', price: '59000' })
    assert.deepEqual([behind.status, behind.body.code], [422, 'UNSUPPORTED'])
    assert.equal(behind.body.details.field, 'price')
    const placed = await client.trade({ ...MARKET, type: 'stop', price: '61000' }, 'open')
    const late = await client.request('updateOrder', 'PATCH', `/orders/${placed.id}`, { price: '59000' })
    assert.deepEqual([late.status, late.body.code], [422, 'UNSUPPORTED'])
    const reverted = await client.request('createOrder', 'POST', '/orders', { ...LIMIT, sl: '59500' })
    assert.deepEqual([reverted.body.code, reverted.body.details.errorName], ['SIMULATION_REVERTED', 'TradeSlInvalid'])
    const cancel = await client.request('cancelOrder', 'DELETE', `/orders/${placed.id}`)
    await client.broadcast(cancel.body.transaction)
    await client.orderOnce(placed.id, ({ status }) => status === 'canceled')
  })

  it('of an order that executes at once: told, and refused with a stop that the price has passed', async () => {
    const resting = await client.trade({ ...LIMIT, sl: '56000' }, 'open')
    const update = (body: object) => client.request('updateOrder', 'PATCH', `/orders/${resting.id}`, body)
    // Measured from 90000 the stop loss is moved above 80000: at 60000 the contracts would never execute the order.
    const wrong = await update({ price: '90000' })
    assert.deepEqual([wrong.status, wrong.body.code], [422, 'UNSUPPORTED'], JSON.stringify(wrong.body))
    const { reference, ...details } = ownDetails(wrong.body.details)
    assert.deepEqual(details, { field: 'sl', value: '56000', side: 'long' })
    assert.ok(Math.abs(Number(reference) - 60_000) < 60, String(reference))
    assert.match(wrong.body.message, /^The sl 56000, which the contracts make 8\d{4}[.\d]*, must be below /)
    assert.deepEqual(await chainStops(), ['56000'])

    const moved = await update({ price: '60500' })
    const [warning, ...others] = (await prepared(moved)) ?? []
    assert.deepEqual([warning?.code, warning?.field, warning?.asked, others], ['marketable', 'price', '60500', []])
    const { fill, sl } = await client.orderOnce(resting.id, ({ status }) => status === 'filled')
    assert.ok(Math.abs(Number(fill!.price) - 60_000) < 60, `${fill!.price} is the price of the market`)
    assert.equal(sl, '56000')
    await closeAll()
  })

  it('of collateral: never more than was asked leaves the wallet', async () => {
    await client.trade({ ...MARKET, size: '0.5', leverage: '1.1' }, 'filled')
    const { id } = await position()
    const add = (amount: string) => patch(id, { collateral: { action: 'add', amount } })
    const small = await add('10')
    assert.deepEqual([small.status, small.body.code], [422, 'UNSUPPORTED'])
    const { above, below } = small.body.details.nearest
    assert.ok(Number(below) < 10 && Number(above) > 10, JSON.stringify(small.body.details))

    const { address, decimals } = world.chain.collateral('USDC')
    const balance = (): Promise<bigint> =>
      world.chain.client.readContract({
        address,
        abi: erc20Abi,
        functionName: 'balanceOf',
        args: [client.trader.address],
      })
    const held = await balance()
    const asked = String(Math.ceil(Number(above)) + 5)
    const answer = await add(asked)
    const warnings = await prepared(answer)
    assert.deepEqual(
      warnings?.map(({ code, asked: said, value }) => [code, said, value]),
      [['collateral_rounded', asked, above]],
    )
    await positionOnce((now) => now.leverage === '1.099')
    assert.equal(formatUnits(held - (await balance()), decimals), above)
    await closeAll()
  })

  it('through the SDK: warnings are typed, and the position that was waited for has what they say', async () => {
    const { client: sdk } = await world.sdkAccount('trader-3', 'agent-3')
    const tracked = await sdk.orders.create({ ...MARKET, sl: '40000' })
    const [estimate] = tracked.warnings
    assert.deepEqual([estimate?.code, estimate?.asked], ['sl_clamped', '40000'])
    const { fill } = await tracked.waitForFill(SOON)
    const update = await sdk.positions.update(fill.positionId!, { sl: '41000' })
    const [warning] = update.warnings
    const moved = await update.wait(SOON)
    assert.deepEqual([warning?.asked, warning?.value], ['41000', moved.sl])
    assert.deepEqual(await chainStops(await sdk.trader()), [moved.sl])
    for (const changes of [{ sl: moved.sl }, { sl: moved.sl, tp: '70000' }]) {
      const back = await sdk.positions.update(moved.id, changes)
      assert.deepEqual(back.warnings, [])
      const { sl, tp } = await back.wait(SOON)
      assert.deepEqual([sl, tp], [moved.sl, changes.tp ?? '0'])
    }
    await assert.rejects(sdk.positions.update(moved.id, { sl: '99999' }), { code: 'UNSUPPORTED' })
    await (await sdk.positions.close(moved.id)).waitForFill(SOON)
  })

  it('through the SDK: a tight close that is refused leaves its slippage, and the next stop puts it back', async () => {
    const { client: sdk } = await world.sdkAccount('trader-3', 'agent-3')
    const { fill } = await (await sdk.orders.create({ ...MARKET, sl: '57000' })).waitForFill(SOON)
    const id = fill.positionId!
    const trader = await sdk.trader()
    // Less than half of the spread, so the contracts refuse the close, and would refuse the stop.
    const close = await sdk.positions.close(id, { slippage: '0.001' })
    assert.deepEqual(
      close.warnings.map(({ code, value }) => [code, value]),
      [['closing_slippage_kept', '0.001']],
    )
    assert.equal((await close.waitFor(['rejected'], SOON)).reason, 'SLIPPAGE')
    assert.equal(await closingSlippageP(trader), 1)

    const update = await sdk.positions.update(id, { sl: '58500' })
    assert.deepEqual(
      update.warnings.map(({ code, value }) => [code, value]),
      [['closing_slippage_reset', '1']],
    )
    await update.wait(SOON)
    assert.equal(await closingSlippageP(trader), 1_000)
    assert.deepEqual((await sdk.positions.update(id, { tp: '70000' })).warnings, [])
    await world.setPrice(58_400)
    await until('the stop has closed it', async () => {
      const [last] = (await sdk.account.fills({ limit: 1 })).data
      return last?.positionId === id && last.action === 'TradeClosedSL'
    })
    await world.moveTo(60_000)
  })

  describe('through the facade', () => {
    let lastNonce = 0

    before(async () => {
      const { address: agentAddress } = world.chain.account('agent-2')
      const nonce = (lastNonce = Date.now())
      const network = { signatureChainId: '0x66eee', hyperliquidChain: 'Testnet' }
      const action = { type: 'approveAgent', ...network, agentAddress, agentName: 'bot', nonce }
      await post('exchange', signUserSigned(keyOf('trader-2'), action))
      const relayer = world.chain.account('relayer').address
      await world.chain.send(world.chain.account('trader-2'), 'setTradingDelegate', [relayer])
    })
    const keyOf = (name: string) => world.devnet.file.accounts.find((account) => account.name === name)!.privateKey
    const user = () => world.chain.account('trader-2').address

    async function post(route: 'exchange' | 'info', body: unknown) {
      const headers = { 'content-type': 'application/json' }
      const url = `${world.url()}/hl/arbitrum-sepolia/${route}`
      return JSON.parse(await (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).text())
    }

    async function place(item: Record<string, unknown>, grouping = 'na') {
      lastNonce = Math.max(Date.now(), lastNonce + 1)
      const action: ExchangeAction = { type: 'order', orders: [{ a: 0, r: false, ...item }], grouping } as never
      const answer = await post('exchange', signL1(keyOf('agent-2'), { action, nonce: lastNonce }))
      return answer.response.data?.statuses[0] ?? answer
    }
    const stop = (triggerPx: string) =>
      place(
        { b: false, p: triggerPx, s: '0', r: true, t: { trigger: { isMarket: true, triggerPx, tpsl: 'sl' } } },
        'positionTpsl',
      )

    const sentByRelayer = () =>
      world.chain.client.getTransactionCount({ address: world.chain.account('relayer').address })

    async function chainTrade() {
      const of = { address: world.chain.diamond, abi: diamondAbi, functionName: 'getTrades', args: [user()] } as const
      return (await world.chain.client.readContract(of))[0]!
    }

    it('refused on the wrong side, moved when too far, and shown where they are', async () => {
      const opened = await place({ b: true, p: '63000', s: '0.02', t: { limit: { tif: 'Ioc' } } })
      assert.ok('filled' in opened, JSON.stringify(opened))
      assert.match((await stop('61000')).error, /^Invalid TP\/SL price\./)
      assert.equal((await chainTrade()).sl, 0n)

      const far = await stop('40000')
      assert.ok('resting' in far && !('pending' in far), JSON.stringify(far))
      const { sl } = await chainTrade()
      assert.ok(sl > 40_000n * Price.one)
      const [shown] = await post('info', { type: 'frontendOpenOrders', user: user() })
      assert.ok(Math.abs(Number(shown.triggerPx) - Number(Price.format(Price.of(sl)))) < 0.1, shown.triggerPx)

      const sent = await sentByRelayer()
      const again = await stop('40000')
      assert.ok('resting' in again && !('pending' in again), JSON.stringify(again))
      assert.equal((await chainTrade()).sl, sl)
      assert.equal(await sentByRelayer(), sent, 'nothing was sent for what is there')

      // A slippage under which no stop executes, set elsewhere, is put back with a stop, also with the same one.
      const { index } = await chainTrade()
      await world.chain.send(world.chain.account('trader-2'), 'updateMaxClosingSlippageP', [index, 1])
      await until('a stop puts the slippage back', async () => {
        await stop('40000')
        return (await closingSlippageP(user())) === 1_000
      })
      assert.equal(await sentByRelayer(), sent + 1)
      await stop('58500')
      await world.setPrice(58_400)
      await until('the stop has closed it', async () => {
        const state = await post('info', { type: 'clearinghouseState', user: user() })
        return state.assetPositions.length === 0
      })
    })
  })
})
