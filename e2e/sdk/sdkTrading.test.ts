import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import {
  BezelApiError,
  BroadcastError,
  createBezelClient,
  FillTimeoutError,
  missingAllowance,
  OrderNotFilledError,
  OrderSubmitReportError,
  privateKeySender,
  TransactionRevertedError,
  type BezelClient,
  type CreateOrderRequest,
  type UpdatePositionRequest,
} from '@bezel/sdk'
import { lastingPort } from '@bezel/testkit/lastingPort.ts'
import { meddlingFetch } from './meddlingFetch.ts'
import { failureOf, SOON, startSdkWorld, type SdkWorld } from './sdkWorld.ts'
import { until } from '@bezel/testkit/until.ts'

const MARKET: CreateOrderRequest = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' }
const LIMIT: CreateOrderRequest = { ...MARKET, reduceOnly: false, type: 'limit', price: '59000' }

describe('trading with the SDK', () => {
  let world: SdkWorld
  let client: BezelClient

  before(async () => {
    world = await startSdkWorld({
      service: {
        PORT: String(await lastingPort()),
        BEZEL_MARKETS_REFRESH_MS: '200',
      },
    })
    client = (await world.sdkAccount('trader-1', 'agent-1')).client
  })
  after(() => world?.stop())
  afterEach(async () => {
    await world.chain.control('bezel_pauseOracle', false)
    await world.setPrice(60_000)
    for (const { id } of await client.positions.list()) await (await client.positions.close(id)).waitForFill(SOON)
  })

  it('authorises, delegates once, and says whose agent it is', async () => {
    const { agent, delegationTx } = await client.agents.get()
    assert.deepEqual([agent.status, agent.name, agent.trader], ['active', 'sdk', await client.trader()])
    assert.notEqual(delegationTx, null)
    const sender = privateKeySender({ account: world.chain.account('trader-1'), rpcUrl: world.rpcUrl })
    assert.equal(await client.agents.delegate({ sender }), null)
    const own = world.countingSender('agent-1')
    const refused = { code: 'WRONG_SENDER', message: new RegExp(`the trader is ${await client.trader()}`) }
    await assert.rejects(client.agents.delegate({ sender: own }), refused)
    await assert.rejects(client.account.approve({ sender: own, collateral: 'USDC', amount: '5' }), refused)
    assert.equal(own.count(), 0)
    const { balances } = await client.account.get()
    assert.ok(balances.some(({ collateral }) => collateral === 'USDC'))
  })

  it('opens, protects, reduces and closes a position', async () => {
    const seen: string[] = []
    const tracked = await client.orders.create(MARKET)
    const opened = await tracked.waitForFill({ ...SOON, onProgress: ({ status }) => seen.push(status) })
    assert.deepEqual([tracked.status, opened.status, seen.at(-1)], ['filled', 'filled', 'filled'])
    const id = opened.fill.positionId!
    const changed = async (changes: UpdatePositionRequest) => (await client.positions.update(id, changes)).wait(SOON)
    const { sl, tp } = await changed({ sl: '57000', tp: '66000' })
    assert.deepEqual([sl, tp], ['57000', '66000'])
    assert.equal((await changed({ leverage: '8' })).leverage, '8')
    assert.ok(Number((await changed({ collateral: { action: 'add', amount: '50' } })).leverage) < 8)
    const half = await (await client.positions.close(id, { size: '0.01', slippage: '2' })).wait(SOON)
    assert.ok(Math.abs(Number(half.fill!.size) - 0.01) < 0.0002)
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
    assert.equal((await placed.wait(SOON)).status, 'open')
    const { price, tp, sl } = await (await client.orders.update(placed.id, { price: '58500', tp: '70000' })).wait(SOON)
    assert.deepEqual([price, tp, sl], ['58500', '70000', '55000'])
    assert.equal((await (await client.orders.update(placed.id, { size: '0.03' })).wait(SOON)).size, '0.03')
    assert.equal((await client.orders.get(placed.id)).size, '0.03')
    const openIds = (await client.account.openOrders()).map(({ id }) => id)
    assert.deepEqual(openIds, [placed.id])
    const part = { market: 'BTC/USD', status: 'open', since: placed.order.createdAt } as const
    const { data: page, nextCursor } = await client.account.openOrdersPage({ ...part, limit: 1 })
    assert.deepEqual([page, nextCursor], [await client.account.openOrders(part), null])
    assert.equal((await (await client.orders.cancel(placed.id)).wait(SOON)).status, 'canceled')
    await assert.rejects(client.orders.cancel(placed.id), { code: 'ORDER_NOT_MODIFIABLE' })
    const { order } = await client.orders.prepare(LIMIT)
    assert.equal((await client.orders.cancel(order.id)).status, 'expired')
    const { data } = await client.account.orderHistory({ limit: 2 })
    assert.deepEqual(
      data.map(({ id }) => id),
      [order.id, placed.id],
    )
  })

  it('has the hash of a change, and notices when a change or a cancellation reverts', async () => {
    const placed = await client.orders.create(LIMIT)
    await placed.wait(SOON)
    const change = await client.orders.update(placed.id, { tp: '70000' })
    await change.wait(SOON)
    assert.notEqual(change.txHash, placed.txHash)
    assert.equal((await client.orders.get(placed.id)).txHash, placed.txHash)
    const sender = world.countingSender('agent-1')
    // Too little gas for what it calls, and enough to be mined.
    const sendTransaction: typeof sender.sendTransaction = (transaction) =>
      sender.sendTransaction({ ...transaction, gas: 40_000n })
    const { orders: starved } = world.sdkClient('agent-1', { sender: { ...sender, sendTransaction } })
    for (const send of [() => starved.update(placed.id, { tp: '71000' }), () => starved.cancel(placed.id)]) {
      const sent = await send()
      const error = await failureOf(sent.wait(SOON))
      assert.ok(error instanceof TransactionRevertedError, String(error))
      assert.deepEqual([error.txHash, error.order?.status, error.order?.tp], [sent.txHash, 'open', '70000'])
      assert.equal((await world.chain.client.getTransactionReceipt({ hash: sent.txHash! })).status, 'reverted')
    }
    await (await client.orders.cancel(placed.id)).wait(SOON)
  })

  it('takes an order back that it could not send, and says why', async () => {
    const { client: poor, agent } = await world.sdkAccount('trader-4', 'poor-1')
    const error = await failureOf(poor.orders.create(MARKET))
    assert.ok(error instanceof BroadcastError && error.orderId !== undefined, String(error))
    assert.equal(error.reason, 'no_gas')
    assert.ok(error.message.includes(`${agent.address} has too little of the native coin`), error.message)
    assert.equal((await poor.orders.get(error.orderId)).status, 'expired')
    const account = world.chain.account('agent-1')
    const rpcUrl = `http://127.0.0.1:${await lastingPort()}`
    const away = world.sdkClient('agent-1', { sender: privateKeySender({ account, rpcUrl }) })
    const prepared = async (): Promise<string[]> =>
      (await client.account.openOrders({ status: 'prepared' })).map(({ id }) => id)
    const ahead = await prepared()
    await assert.rejects(away.orders.create(MARKET), { name: 'BezelNodeError', code: 'NODE_FAILED' })
    assert.ok((await prepared()).every((id) => ahead.includes(id)))
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
    const sender = world.countingSender('agent-1')
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
    assert.equal((await shaky.orders.getByClientId('lost-answer')).id, tracked.id)
    await assert.rejects(shaky.orders.getByClientId('never sent'), { code: 'ORDER_NOT_FOUND', status: 404 })
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
    const sender = world.countingSender('agent-1')
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

  it('names the allowance that is missing, and makes the approval itself', async () => {
    const sender = privateKeySender({ account: world.chain.account('trader-1'), rpcUrl: world.rpcUrl })
    await client.account.approve({ sender, collateral: 'USDC', amount: '1', ...SOON })
    const missing = missingAllowance(await failureOf(client.orders.create(MARKET)))
    assert.equal(missing?.collateral, 'USDC')
    // A preview goes by what was last read of the account.
    const remedy = await until('the preview tells it too', async () => {
      const [found] = await client.account.remedies(await client.preview.order(MARKET))
      return found
    })
    assert.deepEqual([remedy.kind, remedy.collateral], ['allowance', 'USDC'])
    const made = await client.account.prepareApprove({ collateral: 'USDC', amount: remedy.needed! })
    assert.deepEqual(remedy.transaction, made)
    await client.account.approve({ sender, ...missing, ...SOON })
    await until('the allowance', async () => {
      const { balances } = await client.account.get()
      return balances.find(({ collateral }) => collateral === 'USDC')?.allowance === missing.amount
    })
    await (await client.orders.create(MARKET)).waitForFill(SOON)
    await client.account.approve({ sender, collateral: 'USDC', amount: '1000000000', ...SOON })
  })

  it('tells notifications once each, and dismisses them', async () => {
    const last = Math.max(0, ...(await client.notifications.list()).map(({ id }) => id))
    const ended = await (await client.orders.create(MARKET)).wait(SOON)
    const told = client.notifications.stream({ after: last, pollMs: SOON.pollMs })
    const { value: notice } = await told.next()
    assert.deepEqual([notice?.type, notice?.orderId], ['order_filled', ended.id])
    told.close()
    const listed = async (): Promise<boolean> => (await client.notifications.list()).some(({ id }) => id === notice!.id)
    assert.ok(await listed())
    await client.notifications.dismiss(notice!.id)
    assert.ok(!(await listed()))
    await assert.rejects(client.notifications.dismiss(999_999), { name: 'BezelApiError', code: 'VALIDATION_ERROR' })
    const stranger = world.sdkClient('agent-5', { trader: await client.trader() })
    await assert.rejects(stranger.notifications.dismiss(notice!.id), { name: 'BezelApiError', status: 401 })
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
    assert.match(error.message, /the price moved further than the slippage allows; order again/)
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
    const foreign = { ...revocationTx!, to: `0x${'33'.repeat(20)}` as const }
    await assert.rejects(unknown.agents.undelegate({ sender, revocationTx: foreign }), {
      name: 'UnverifiedTransactionError',
      field: 'to',
    })
  })
})
