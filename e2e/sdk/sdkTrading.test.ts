import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { after, afterEach, before, describe, it } from 'node:test'
import {
  BezelApiError,
  CHAINS,
  createBezelClient,
  FillTimeoutError,
  missingAllowance,
  OrderNotFilledError,
  OrderSubmitReportError,
  privateKeySender,
  type BezelClient,
  type CreateOrderRequest,
  type TransactionSender,
} from '@bezel/sdk'
import { meddlingFetch } from './meddlingFetch.ts'
import { SOON, startSdkWorld, type SdkWorld } from './sdkWorld.ts'
import { until } from '@bezel/testkit/until.ts'

const MARKET: CreateOrderRequest = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' }
const LIMIT: CreateOrderRequest = { ...MARKET, type: 'limit', price: '59000' }

/** Returns a free port, so that a restarted service has the same address. */
async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return String(port)
}

/** Returns the error that a promise rejects with. */
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => assert.fail('it did not fail'),
    (reason: unknown) => reason,
  )

describe('trading with the SDK', () => {
  let world: SdkWorld
  let client: BezelClient

  before(async () => {
    world = await startSdkWorld({ service: { PORT: await freePort(), BEZEL_MARKETS_REFRESH_MS: '200' } })
    client = (await world.sdkAccount('trader-1', 'agent-1')).client
  })
  after(() => world?.stop())
  afterEach(async () => {
    await world.chain.control('bezel_pauseOracle', false)
    await world.setPrice(60_000)
    for (const { id } of await client.positions.list()) await (await client.positions.close(id)).waitForFill(SOON)
  })

  /** Returns a sender that counts the transactions it sends. */
  function countingSender(): TransactionSender & { readonly count: () => number } {
    const sender = privateKeySender({ account: world.chain.account('agent-1'), rpcUrl: world.rpcUrl })
    let count = 0
    return {
      ...sender,
      count: () => count,
      sendTransaction(transaction) {
        count += 1
        return sender.sendTransaction(transaction)
      },
    }
  }

  async function untilPosition(
    id: string,
    isExpected: (sl: string, tp: string, leverage: string) => boolean,
  ): Promise<void> {
    await until(`position ${id} as expected`, async () => {
      const { sl, tp, leverage } = await client.positions.get(id)
      return isExpected(sl, tp, leverage)
    })
  }

  it('authorises, delegates once, and says whose agent it is', async () => {
    const { agent, delegationTx } = await client.agents.get()
    assert.deepEqual([agent.status, agent.name, agent.trader], ['active', 'sdk', await client.trader()])
    assert.notEqual(delegationTx, null)
    const sender = privateKeySender({ account: world.chain.account('trader-1'), rpcUrl: world.rpcUrl })
    assert.equal(await client.agents.delegate({ sender }), null)
    const { balances } = await client.account.get()
    assert.ok(balances.some(({ collateral }) => collateral === 'USDC'))
  })

  it('opens, protects, reduces and closes a position', async () => {
    const seen: string[] = []
    const tracked = await client.orders.create(MARKET)
    const opened = await tracked.waitForFill({ ...SOON, onProgress: ({ status }) => seen.push(status) })
    assert.deepEqual([tracked.status, opened.status, seen.at(-1)], ['filled', 'filled', 'filled'])
    const id = opened.fill.positionId!
    await client.positions.update(id, { sl: '57000', tp: '66000' })
    await untilPosition(id, (sl, tp) => sl === '57000' && tp === '66000')
    await client.positions.update(id, { leverage: '8' })
    await untilPosition(id, (_sl, _tp, leverage) => leverage === '8')
    await client.positions.update(id, { collateral: { action: 'add', amount: '50' } })
    await untilPosition(id, (_sl, _tp, leverage) => Number(leverage) < 8)
    const half = await (await client.positions.close(id, { size: '0.01', slippage: '2' })).waitForFill(SOON)
    assert.ok(Math.abs(Number(half.fill.size) - 0.01) < 0.0002)
    // The slippage of the first close is in force now; a close without one sets the default again.
    const rest = await (await client.positions.close(id)).waitForFill(SOON)
    assert.deepEqual([rest.side, rest.reduceOnly], ['short', true])
    assert.deepEqual(await client.positions.list(), [])
    const fills: string[] = []
    for await (const fill of client.account.allFills({ pageSize: 2 }))
      if (fill.positionId === id) fills.push(fill.action)
    assert.deepEqual([fills[0], fills.at(-1)], ['TradeClosedMarket', 'TradeOpenedMarket'])
    await assert.rejects(client.positions.close(id), { code: 'POSITION_NOT_FOUND' })
  })

  it('rests a limit, moves it, sizes it, and cancels it', async () => {
    const placed = await client.orders.create({ ...LIMIT, sl: '55000' })
    await placed.waitFor('open', SOON)
    const moved = await client.orders.update(placed.id, { price: '58500', tp: '70000' })
    await moved.waitFor(({ price, tp, sl }) => price === '58500' && tp === '70000' && sl === '55000', SOON)
    const sized = await client.orders.update(placed.id, { size: '0.03' })
    await sized.waitFor(({ size }) => size === '0.03', SOON)
    const openIds = (await client.account.openOrders()).map(({ id }) => id)
    assert.deepEqual(openIds, [placed.id])
    await (await client.orders.cancel(placed.id)).waitFor('canceled', SOON)
    await assert.rejects(client.orders.cancel(placed.id), { code: 'ORDER_NOT_MODIFIABLE' })
    const { order } = await client.orders.prepare(LIMIT)
    assert.equal((await client.orders.cancel(order.id)).status, 'expired')
    const { data } = await client.account.orderHistory({ limit: 2 })
    assert.deepEqual(
      data.map(({ id }) => id),
      [order.id, placed.id],
    )
  })

  it('reads with a key, and only reads', async () => {
    const trader = world.chain.account('trader-1')
    const { apiKey } = await client.agents.issueApiKey({ trader, label: 'dashboard' })
    const reader = createBezelClient({
      baseUrl: world.url(),
      chain: 'arbitrum-sepolia',
      apiKey,
      trader: trader.address,
    })
    assert.deepEqual(await reader.positions.list(), await client.positions.list())
    assert.ok((await reader.account.events({ limit: 3 })).lastSeq > 3)
    await assert.rejects(reader.orders.create(MARKET), { code: 'NO_AGENT' })
    assert.deepEqual(await reader.streamAuth(), { op: 'auth', apiKey, trader: trader.address })
    const stranger = createBezelClient({
      baseUrl: world.url(),
      chain: 'arbitrum-sepolia',
      apiKey: 'bz_wrong',
      trader: trader.address,
    })
    await assert.rejects(stranger.account.get(), { name: 'BezelApiError', code: 'API_KEY_UNKNOWN', status: 401 })
  })

  it('lists keys by the agent or the wallet, and ends them by the wallet alone', async () => {
    const trader = world.chain.account('trader-1')
    const label = 'board/2 \u00e4'
    const { apiKey } = await client.agents.issueApiKey({ trader, label })
    const reader = createBezelClient({
      baseUrl: world.url(),
      chain: 'arbitrum-sepolia',
      apiKey,
      trader: trader.address,
    })
    const labels = async (of?: Parameters<BezelClient['agents']['listApiKeys']>[0]) =>
      (await client.agents.listApiKeys(of)).map((key) => [key.label, key.lastUsedAt !== null])
    assert.ok((await labels()).some(([name, isUsed]) => name === label && isUsed === false))
    await reader.positions.list()
    assert.ok((await labels({ trader })).some(([name, isUsed]) => name === label && isUsed === true))
    await assert.rejects(client.agents.revokeApiKey({ trader: world.chain.account('agent-1'), label }), {
      code: 'NOT_FOUND',
    })
    await client.agents.revokeApiKey({ trader, label })
    assert.ok(!(await labels({ trader })).some(([name]) => name === label))
    await assert.rejects(reader.positions.list(), { code: 'API_KEY_UNKNOWN' })
  })

  it('takes the trader from the wallet that authorised the agent, and asks nobody for it', async () => {
    const { diamond } = world.devnet.file.chains['arbitrum-sepolia']!
    const of = { baseUrl: world.url(), chain: 'arbitrum-sepolia', diamond } as const
    const fresh = createBezelClient({ ...of, agent: world.chain.account('agent-5') })
    await assert.rejects(fresh.account.get(), { name: 'BezelConfigError', code: 'NO_TRADER' })
    const trader = world.chain.account('trader-5')
    await fresh.agents.authorize({ trader, scope: { permissions: 'read' } })
    assert.equal((await fresh.account.get()).address, trader.address)
    await assert.rejects(
      world.sdkClient('agent-5', { trader: world.chain.account('trader-4').address }).account.get(),
      {
        code: 'TRADER_MISMATCH',
        status: 403,
      },
    )
  })

  it('asks again for an answer that was lost, when a clientId makes that safe', async () => {
    const sender = countingSender()
    let asked = 0
    const fetch = meddlingFetch({
      after(method, path) {
        if (method !== 'POST' || !path.endsWith('/orders')) return
        asked += 1
        if (asked === 1) throw new TypeError('socket hang up')
      },
    })
    const shaky = world.sdkClient('agent-1', { fetch, sender })
    const tracked = await shaky.orders.create({ ...MARKET, clientId: 'lost-answer' })
    assert.equal(asked, 2)
    const again = await shaky.orders.create({ ...MARKET, clientId: 'lost-answer' })
    assert.equal(again.id, tracked.id)
    await again.waitForFill(SOON)
    assert.equal(sender.count(), 1)
    await assert.rejects(shaky.orders.create({ ...MARKET, size: '0.03', clientId: 'lost-answer' }), {
      code: 'IDEMPOTENCY_CONFLICT',
    })
    asked = 0
    await assert.rejects(shaky.orders.create(MARKET), {
      name: 'BezelNetworkError',
      code: 'NETWORK_ERROR',
      retryable: false,
    })
    assert.equal(asked, 1)
    assert.equal((await client.positions.list()).length, 1)
  })

  it('never sends twice what could not be reported', async () => {
    const sender = countingSender()
    const fetch = meddlingFetch({
      before(_method, path) {
        if (path.endsWith('/submit')) throw new TypeError('connection refused')
      },
    })
    const mute = world.sdkClient('agent-1', { fetch, sender })
    const error = await failureOf(mute.orders.create({ ...MARKET, clientId: 'unreported' }))
    assert.ok(error instanceof OrderSubmitReportError, String(error))
    assert.match(error.message, /Do not send it again/)
    const { order } = await client.orders.prepare({ ...MARKET, clientId: 'unreported' })
    assert.equal(order.id, error.orderId)
    await client.orders.create({ ...MARKET, clientId: 'unreported' })
    const filled = await (await client.orders.track(error.orderId)).waitForFill(SOON)
    assert.deepEqual([filled.txHash, sender.count()], [error.txHash, 1])
    assert.equal((await client.positions.list()).length, 1)
  })

  it('says by how much a clock is off', async () => {
    const ahead = world.sdkClient('agent-1', { now: () => Date.now() + 120_000 })
    const error = await failureOf(ahead.account.get())
    assert.ok(error instanceof BezelApiError)
    assert.deepEqual([error.name, error.code], ['ClockSkewError', 'TIMESTAMP_OUT_OF_WINDOW'])
    assert.match(error.message, /^This clock is 1(?:19|20|21)\.\d s ahead of the service's\. .*Set the clock/)
    const behind = world.sdkClient('agent-1', { now: () => Date.now() - 60_000 })
    await assert.rejects(behind.account.get(), /(?:59|60|61)\.\d s behind/)
    // Answers to the trader's structs have no time in the body, but every answer has it in a header.
    const trader = world.chain.account('trader-1')
    await assert.rejects(ahead.agents.issueApiKey({ trader, label: 'late' }), /1(?:18|19|20|21)\.\d s ahead/)
  })

  it('refuses another Diamond, chain, name or sender than the ones meant', async () => {
    const domain = await client.signingDomain()
    const pinned = (change: Partial<typeof domain>) =>
      world.sdkClient('agent-1', { signing: { ...domain, ...change } }).orders.create(MARKET)
    await assert.rejects(pinned({ verifyingContract: `0x${'11'.repeat(20)}` }), {
      name: 'WrongDiamondError',
      found: domain.verifyingContract,
    })
    const live = createBezelClient({ baseUrl: world.url(), chain: 'arbitrum-sepolia', trader: await client.trader() })
    await assert.rejects(live.signingDomain(), {
      name: 'WrongDiamondError',
      expected: CHAINS['arbitrum-sepolia'].liveDiamond,
      found: domain.verifyingContract,
    })
    await assert.rejects(pinned({ chainId: 1 }), { name: 'WrongChainError', expected: 1, found: 421_614 })
    await assert.rejects(pinned({ name: 'Other' }), { code: 'SIGNING_NAME_MISMATCH' })
    const sender = countingSender()
    const elsewhere = world.sdkClient('agent-1', { sender: { ...sender, chainId: async () => 1 } })
    await assert.rejects(elsewhere.orders.create(MARKET), { name: 'WrongChainError', expected: 421_614, found: 1 })
    const other = privateKeySender({ account: world.chain.account('agent-2'), rpcUrl: world.rpcUrl })
    await assert.rejects(world.sdkClient('agent-1', { sender: other }).orders.create(MARKET), { code: 'WRONG_SENDER' })
    assert.equal(sender.count(), 0)
    const good = await world.sdkClient('agent-1', { signing: domain, trader: await client.trader() }).account.get()
    assert.equal(good.address, await client.trader())
  })

  it('refuses to send what has expired', async () => {
    const sender = countingSender()
    let aheadMs = 0
    const fetch = meddlingFetch({
      after(method, path) {
        if (method === 'POST' && path.endsWith('/orders')) aheadMs = 61_000
      },
    })
    const slow = world.sdkClient('agent-1', { fetch, sender, now: () => Date.now() + aheadMs })
    await assert.rejects(slow.orders.create(MARKET), {
      name: 'PreparationExpiredError',
      message: /was not sent\. Prepare it again/,
    })
    assert.equal(sender.count(), 0)
  })

  it('refuses to send what a bad service prepared', async () => {
    const sender = countingSender()
    const other = await client.orders.prepare({ ...MARKET, side: 'short' })
    const fetch = meddlingFetch({
      after(_method, _path, body) {
        const prepared = body as { transaction?: { data: string } | null }
        return prepared.transaction
          ? { ...prepared, transaction: { ...prepared.transaction, data: other.transaction!.data } }
          : body
      },
    })
    const position = (await (await client.orders.create(MARKET)).waitForFill(SOON)).fill.positionId!
    const resting = await client.orders.create(LIMIT)
    await resting.waitFor('open', SOON)
    const bad = world.sdkClient('agent-1', { fetch, sender })
    const refused = { name: 'UnverifiedTransactionError' }
    await assert.rejects(bad.orders.create(MARKET), { ...refused, field: 'side' })
    await assert.rejects(bad.orders.update(resting.id, { price: '58000' }), refused)
    await assert.rejects(bad.orders.cancel(resting.id), refused)
    await assert.rejects(bad.positions.close(position), refused)
    await assert.rejects(bad.positions.update(position, { sl: '50000' }), refused)
    assert.equal(sender.count(), 0)
    await (await client.orders.cancel(resting.id)).waitFor('canceled', SOON)
  })

  it('names the allowance that is missing, and makes the approval itself', async () => {
    const sender = privateKeySender({ account: world.chain.account('trader-1'), rpcUrl: world.rpcUrl })
    await client.account.approve({ sender, collateral: 'USDC', amount: '1', ...SOON })
    const missing = missingAllowance(await failureOf(client.orders.create(MARKET)))
    assert.equal(missing?.collateral, 'USDC')
    await client.account.approve({ sender, ...missing, ...SOON })
    await until('the allowance', async () => {
      const { balances } = await client.account.get()
      return balances.find(({ collateral }) => collateral === 'USDC')?.allowance === missing.amount
    })
    await (await client.orders.create(MARKET)).waitForFill(SOON)
    await client.account.approve({ sender, collateral: 'USDC', amount: '1000000000', ...SOON })
  })

  it('takes the word of the service where the chain can not be read', async () => {
    const { call: _none, ...blind } = countingSender()
    const trusting = world.sdkClient('agent-1', { sender: blind })
    const opened = await (await trusting.orders.create(MARKET, { expectedPrice: '60010' })).waitForFill(SOON)
    await assert.rejects(trusting.orders.create(MARKET, { expectedPrice: '63000' }), {
      name: 'UnverifiedTransactionError',
      field: 'price',
    })
    const inEther = { ...MARKET, collateral: 'WETH' }
    await assert.rejects(trusting.orders.create(inEther), { field: 'collateral price', message: /collateralPriceUsd/ })
    await (await trusting.orders.create(inEther, { collateralPriceUsd: '2500' })).waitForFill(SOON)
    await assert.rejects(trusting.orders.create(inEther, { collateralPriceUsd: '2600' }), { field: 'collateralAmount' })
    await (await trusting.positions.close(opened.fill.positionId!)).waitForFill(SOON)
    assert.equal((await trusting.positions.list()).length, 1)
  })

  it('closes what is in a token that takes nothing new any more', async () => {
    const opened = await (await client.orders.create({ ...MARKET, collateral: 'DAI' })).waitForFill(SOON)
    const toggle = (): Promise<unknown> =>
      world.chain.send(world.chain.account('deployer'), 'toggleCollateralActiveState', [
        world.chain.collateral('DAI').index,
      ])
    await toggle()
    await until('the token is no longer listed', async () => {
      const { collaterals } = await client.markets.get('BTC/USD')
      return collaterals.every(({ symbol }) => symbol !== 'DAI')
    })
    const fresh = world.sdkClient('agent-1')
    await assert.rejects(fresh.orders.create({ ...MARKET, collateral: 'DAI' }), { code: 'COLLATERAL_NOT_SUPPORTED' })
    await (await fresh.positions.close(opened.fill.positionId!)).waitForFill(SOON)
    await toggle()
  })

  it('tells a rejected order with the reason in words', async () => {
    await world.chain.control('bezel_pauseOracle', true)
    const tracked = await client.orders.create({ ...MARKET, slippage: '0.1' })
    await tracked.waitFor('pending', SOON)
    const waiting = await failureOf(tracked.waitForFill({ timeoutMs: 200, pollMs: 40 }))
    assert.ok(waiting instanceof FillTimeoutError)
    assert.equal(waiting.order?.status, 'pending')
    await world.setPrice(60_500)
    await world.chain.control('bezel_pauseOracle', false)
    const error = await failureOf(tracked.waitForFill(SOON))
    assert.ok(error instanceof OrderNotFilledError)
    assert.equal(error.order.reason, 'SLIPPAGE')
    assert.match(error.message, /the price moved further than the slippage allows: order again/)
  })

  it('reclaims what the oracles left alone', async () => {
    await world.chain.control('bezel_pauseOracle', true)
    const tracked = await client.orders.create(MARKET)
    await tracked.waitFor('pending', SOON)
    await world.chain.control('hardhat_mine', 200)
    await assert.rejects(tracked.waitForFill(SOON), /is timed_out\. .*Cancel it to get the collateral back/)
    await (await client.orders.cancel(tracked.id)).waitFor('canceled', SOON)
  })

  it('goes on waiting while the service is away', async () => {
    await world.chain.control('bezel_pauseOracle', true)
    const tracked = await client.orders.create(MARKET)
    await tracked.waitFor('pending', SOON)
    const filled = tracked.waitForFill(SOON)
    await world.stopService()
    await assert.rejects(world.sdkClient('agent-1', { maxRetries: 0 }).markets.list(), {
      code: 'NETWORK_ERROR',
      retryable: true,
    })
    await world.chain.control('bezel_pauseOracle', false)
    await world.startService()
    assert.equal((await filled).status, 'filled')
  })

  it('uses each nonce once, however many requests and clients there are', async () => {
    const twin = world.sdkClient('agent-1')
    const reads = Array.from({ length: 60 }, (_, place) => (place % 2 === 0 ? client : twin).account.openOrders())
    assert.equal((await Promise.all(reads)).length, 60)
  })

  it('explains who may not trade yet, and who may no longer', async () => {
    const unknown = world.sdkClient('agent-3', { trader: world.chain.account('trader-3').address })
    await assert.rejects(unknown.orders.create(MARKET), { code: 'AGENT_UNKNOWN', message: /agents\.authorize/ })
    const trader = world.chain.account('trader-3')
    await unknown.agents.authorize({ trader, scope: { maxLeverage: '5' } })
    await assert.rejects(unknown.orders.create(MARKET), { code: 'AGENT_NOT_DELEGATED', message: /agents\.delegate/ })
    const sender = privateKeySender({ account: trader, rpcUrl: world.rpcUrl })
    await unknown.agents.delegate({ sender, ...SOON })
    await assert.rejects(unknown.orders.create(MARKET), { code: 'SCOPE_LEVERAGE_EXCEEDED' })
    const { revocationTx } = await unknown.agents.revoke({ trader })
    await unknown.agents.undelegate({ sender, revocationTx: revocationTx! })
    await assert.rejects(unknown.orders.create(MARKET), { code: 'AGENT_REVOKED', message: /Authorise the agent again/ })
    const foreign = { ...revocationTx!, to: `0x${'33'.repeat(20)}` }
    await assert.rejects(unknown.agents.undelegate({ sender, revocationTx: foreign }), {
      name: 'UnverifiedTransactionError',
      field: 'to',
    })
  })
})
