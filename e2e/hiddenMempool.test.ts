import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { diamondAbi, type Order, type PreparedTransaction } from '@bezel/protocol'
import { createBezelClient, privateKeySender, type BezelClient } from '@bezel/sdk'
import { createWalletClient, parseEventLogs, type Hex } from 'viem'
import { patientHttp } from '@bezel/testkit/chainClient.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { PATIENCE_MS } from '@bezel/testkit/until.ts'
import { startOutageWorld, type OutageWorld } from './outages/outageWorld.ts'
import { createPrivateRelay, type PrivateRelay } from './outages/privateRelay.ts'

const CHAIN = 'arbitrum-sepolia'
const MARKET = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' } as const
const LIMIT = { ...MARKET, type: 'limit', price: '59000' } as const

/** Hash that no transaction has. */
const MISTYPED: Hex = `0x${'7'.repeat(64)}`

/**
 * The node of the bot and of the service hides what it was sent, until the story lets it be mined. A hash that no node
 * knows is given up after half a second instead of ten, and no order expires before its story is told.
 */
describe('a node that hides what it has not mined', () => {
  let world: OutageWorld
  let client: TradingClient
  let relay: PrivateRelay
  let nonce: number

  before(async () => {
    world = await startOutageWorld({
      BEZEL_UNKNOWN_HASH_MS: '500',
      BEZEL_PREPARED_MARKET_MS: '3600000',
      BEZEL_PREPARED_RESTING_MS: '3600000',
    })
    client = await world.clientOf('trader-1', 'agent-1')
    nonce = await world.chain.client.getTransactionCount({ address: client.agent.address })
  })
  after(() => world?.stop())

  beforeEach(() => {
    relay = createPrivateRelay(world.chain)
    world.node.fault = { kind: 'lies', lie: relay.lie }
  })

  const create = (body: object) => client.request('createOrder', 'POST', '/orders', body)

  /** Sends as a bot does that counts its own nonces: each transaction is another one to the chain. */
  async function send({ to, data, gas }: PreparedTransaction): Promise<Hex> {
    const wallet = createWalletClient({ account: client.agent, transport: patientHttp(world.node.url) })
    const terms = { to: to as Hex, data: data as Hex, gas: BigInt(gas!), nonce: nonce++, chain: null }
    return wallet.sendTransaction(terms)
  }

  const givenUp = (id: string) => client.orderOnce(id, ({ status, txHash }) => status === 'prepared' && txHash !== null)

  async function requestsOnChain(): Promise<number> {
    const logs = await world.chain.client.getLogs({ address: world.chain.diamond, fromBlock: 0n })
    const stored = parseEventLogs({ abi: diamondAbi, logs, eventName: 'PendingOrderStored' })
    return stored.filter(({ args }) => args.pendingOrder.user === client.trader.address).length
  }

  /** Statuses and hashes that the account's log tells of an order. */
  async function told(id: string): Promise<(readonly [string, string | null])[]> {
    const { body } = await client.account('/events?limit=500', 'listEvents')
    const events = body.data as readonly { readonly channel: string; readonly data: Order }[]
    const ofIt = events.filter(({ channel, data }) => channel === 'orders' && data.id === id)
    return ofIt.map(({ data }) => [data.status, data.txHash] as const)
  }

  it('gives a bot that retries by clientId one trade', async () => {
    const body = { ...MARKET, clientId: 'retried' }
    const earlier = await requestsOnChain()
    /** One round of a bot that knows nothing of the rounds before. */
    async function round(): Promise<{ readonly order: Order; readonly hash: Hex | null }> {
      const { body: answer } = await create(body)
      if (answer.transaction === null) return { order: answer.order, hash: null }
      const hash = await send(answer.transaction)
      const { status, body: order } = await client.submit(answer.order.id, hash)
      assert.equal(status, 200, JSON.stringify(order))
      return { order, hash }
    }

    const first = await round()
    const { id } = first.order
    assert.deepEqual([first.order.status, first.order.txHash], ['pending', first.hash])
    assert.equal((await round()).hash, null)
    const unseen = await givenUp(id)
    assert.deepEqual([unseen.txHash, unseen.expiresAt], [first.hash, first.order.expiresAt])
    for (let retry = 0; retry < 5; retry += 1) {
      const { order, hash } = await round()
      assert.deepEqual([order.id, order.status, order.txHash, hash], [id, 'prepared', first.hash, null])
    }
    const tracked = await sdkClient().orders.create(body)
    assert.deepEqual([tracked.id, tracked.txHash], [id, null])
    assert.equal(relay.held().length, 1, 'the SDK sends nothing either')

    await relay.release()
    const filled = await tracked.waitForFill({ pollMs: 40, timeoutMs: PATIENCE_MS })
    assert.equal(filled.txHash, first.hash)
    assert.equal((await round()).hash, null)
    assert.equal((await requestsOnChain()) - earlier, 1)
    const trades = await world.chain.client.readContract({
      address: world.chain.diamond,
      abi: diamondAbi,
      functionName: 'getTrades',
      args: [client.trader.address],
    })
    assert.equal(trades.length, 1)
    const statuses = (await told(id)).map(([status]) => status)
    assert.deepEqual(statuses.slice(0, 3), ['prepared', 'pending', 'prepared'])
    assert.equal(statuses.at(-1), 'filled')
  })

  function sdkClient(): BezelClient {
    return createBezelClient({
      baseUrl: world.service.url,
      chain: CHAIN,
      agent: client.agent,
      trader: client.trader.address,
      diamond: world.devnet.file.chains[CHAIN]!.diamond,
      sender: privateKeySender({ account: client.agent, rpcUrl: world.node.url }),
    })
  }

  it('lets a mistyped hash be corrected', async () => {
    const { order, transaction } = await client.prepare({ ...LIMIT, clientId: 'mistyped' })
    const hash = await send(transaction)
    assert.equal((await client.submit(order.id, MISTYPED)).body.status, 'pending')
    assert.equal((await givenUp(order.id)).txHash, MISTYPED)
    const corrected = await client.submit(order.id, hash)
    assert.deepEqual([corrected.body.status, corrected.body.txHash], ['pending', hash])
    assert.equal((await create({ ...LIMIT, clientId: 'mistyped' })).body.transaction, null)
    await relay.release()
    const open = await client.orderOnce(order.id, ({ status }) => status === 'open')
    assert.equal(open.txHash, hash)
    assert.deepEqual((await told(order.id)).slice(0, 4), [
      ['prepared', null],
      ['pending', MISTYPED],
      ['prepared', MISTYPED],
      ['pending', hash],
    ])
  })

  it('lets an order be ended that was never sent, and revives it when it is mined all the same', async () => {
    const body = { ...LIMIT, clientId: 'ended' }
    const { order, transaction } = await client.prepare(body)
    const hash = await send(transaction)
    await client.submit(order.id, hash)
    await givenUp(order.id)
    const ended = await client.request('cancelOrder', 'DELETE', `/orders/${order.id}`)
    assert.deepEqual([ended.body.order.status, ended.body.transaction], ['expired', null])
    const again = await create(body)
    assert.deepEqual([again.body.order.status, again.body.transaction], ['expired', null])
    await relay.release()
    await client.orderOnce(order.id, ({ status }) => status === 'open')
  })

  it("refuses another order's hash at once, and leaves the order as it was", async () => {
    const [mine, other] = [await client.prepare(LIMIT), await client.prepare({ ...LIMIT, clientId: 'spared' })]
    const hash = await send(mine.transaction)
    await client.submit(mine.order.id, hash)
    const hidden = await client.submit(other.order.id, hash)
    assert.deepEqual([hidden.status, hidden.body.code], [422, 'SUBMISSION_MISMATCH'])
    await relay.release()
    await client.orderOnce(mine.order.id, ({ status }) => status === 'open')
    const mined = await client.submit(other.order.id, hash)
    assert.deepEqual([mined.status, mined.body.code], [422, 'SUBMISSION_MISMATCH'])
    assert.deepEqual(await client.order(other.order.id), other.order)
    assert.deepEqual((await create({ ...LIMIT, clientId: 'spared' })).body.transaction, other.transaction)
    assert.deepEqual(await told(other.order.id), [['prepared', null]])
  })
})
