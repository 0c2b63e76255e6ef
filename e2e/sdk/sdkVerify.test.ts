import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  CHAINS,
  createBezelClient,
  privateKeySender,
  UnverifiedTransactionError,
  verifyPrepared,
  type BezelClient,
  type CreateOrderRequest,
} from '@bezel/sdk'
import { mulberry32 } from '../../packages/sdk/src/testing/mulberry32.ts'
import type { Shape } from '../../packages/sdk/src/testing/sampleShapes.ts'
import { tamper } from '../../packages/sdk/src/testing/tamper.ts'
import { meddlingFetch } from './meddlingFetch.ts'
import { prepareRealShapes } from './realShapes.ts'
import { SOON, startSdkWorld, type SdkWorld } from './sdkWorld.ts'

const MARKET: CreateOrderRequest = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' }
const LIMIT: CreateOrderRequest = { ...MARKET, reduceOnly: false, type: 'limit', price: '59000' }

const TAMPERED_COUNT = 10_000

const SEED = 7

describe('what the service prepares, checked by the client', () => {
  let world: SdkWorld
  const shapes: Shape[] = []

  before(async () => {
    world = await startSdkWorld()
    for (const symbol of ['ETH/USD', 'SOL/USD']) await world.chain.control('bezel_freezePrice', symbol, true)
  })
  after(() => world?.stop())

  it('is accepted, for a delegate and for a trader that is its own agent', async () => {
    const delegated = await world.sdkAccount('trader-1', 'agent-1')
    shapes.push(...(await prepareRealShapes(world, delegated.client)))
    await world.chain.control('bezel_pauseOracle', false)
    const own = await world.sdkAccount('trader-2', 'trader-2')
    shapes.push(...(await prepareRealShapes(world, own.client)))
    assert.equal(shapes.length, 88)
    for (const { request, prepared, context } of shapes) {
      const isOpening = request.operation === 'createOrder' && request.body.reduceOnly !== true
      assert.ok((isOpening ? context.impactP : context.onChain) !== undefined, 'the chain was looked at')
      verifyPrepared(request, prepared, context)
    }
  })

  it(`is refused ${TAMPERED_COUNT} times when one thing of it is changed`, () => {
    const random = mulberry32(SEED)
    for (let count = 0; count < TAMPERED_COUNT; count += 1) {
      const shape = shapes[count % shapes.length]!
      const { how, prepared } = tamper(shape, random)
      assert.throws(
        () => verifyPrepared(shape.request, prepared, shape.context),
        UnverifiedTransactionError,
        `${shape.name} with another ${how} was accepted: ${prepared.transaction.data}`,
      )
    }
  })

  describe('and before it signs', () => {
    let client: BezelClient

    before(async () => {
      await world.chain.control('bezel_pauseOracle', false)
      await world.setPrice(60_000)
      client = (await world.sdkAccount('trader-3', 'agent-3')).client
    })

    it('refuses another Diamond, chain, name or sender than the ones meant', async () => {
      const domain = await client.signingDomain()
      const pinned = (change: Partial<typeof domain>) =>
        world.sdkClient('agent-3', { signing: { ...domain, ...change } }).orders.create(MARKET)
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
      const sender = world.countingSender('agent-3')
      const elsewhere = world.sdkClient('agent-3', { sender: { ...sender, chainId: async () => 1 } })
      await assert.rejects(elsewhere.orders.create(MARKET), { name: 'WrongChainError', expected: 421_614, found: 1 })
      const other = privateKeySender({ account: world.chain.account('agent-4'), rpcUrl: world.rpcUrl })
      await assert.rejects(world.sdkClient('agent-3', { sender: other }).orders.create(MARKET), {
        code: 'WRONG_SENDER',
      })
      assert.equal(sender.count(), 0)
      const good = await world.sdkClient('agent-3', { signing: domain, trader: await client.trader() }).account.get()
      assert.equal(good.address, await client.trader())
    })

    it('refuses to send what has expired', async () => {
      const sender = world.countingSender('agent-3')
      let aheadMs = 0
      const fetch = meddlingFetch({
        after(method, path) {
          if (method === 'POST' && path.endsWith('/orders')) aheadMs = 61_000
        },
      })
      const slow = world.sdkClient('agent-3', { fetch, sender, now: () => Date.now() + aheadMs })
      await assert.rejects(slow.orders.create(MARKET), {
        name: 'PreparationExpiredError',
        message: /was not sent\. Prepare it again/,
      })
      assert.equal(sender.count(), 0)
    })

    it('refuses to send what a bad service prepared', async () => {
      const sender = world.countingSender('agent-3')
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
      const bad = world.sdkClient('agent-3', { fetch, sender })
      const refused = { name: 'UnverifiedTransactionError' }
      await assert.rejects(bad.orders.create(MARKET), { ...refused, field: 'side' })
      await assert.rejects(bad.orders.update(resting.id, { price: '58000' }), refused)
      await assert.rejects(bad.orders.cancel(resting.id), refused)
      await assert.rejects(bad.positions.close(position), refused)
      await assert.rejects(bad.positions.update(position, { sl: '50000' }), refused)
      assert.equal(sender.count(), 0)
      await (await client.orders.cancel(resting.id)).wait(SOON)
      await (await client.positions.close(position)).wait(SOON)
    })

    it('takes the word of the service where the chain can not be read', async () => {
      const { call: _none, ...blind } = world.countingSender('agent-3')
      const trusting = world.sdkClient('agent-3', { sender: blind })
      const opened = await (await trusting.orders.create(MARKET, { expectedPrice: '60010' })).waitForFill(SOON)
      await assert.rejects(trusting.orders.create(MARKET, { expectedPrice: '63000' }), {
        name: 'UnverifiedTransactionError',
        field: 'price',
      })
      const inEther = { ...MARKET, collateral: 'WETH' }
      await assert.rejects(trusting.orders.create(inEther), {
        field: 'collateral price',
        message: /collateralPriceUsd/,
      })
      await (await trusting.orders.create(inEther, { collateralPriceUsd: '2500' })).waitForFill(SOON)
      await assert.rejects(trusting.orders.create(inEther, { collateralPriceUsd: '2600' }), {
        field: 'collateralAmount',
      })
      await (await trusting.positions.close(opened.fill.positionId!)).waitForFill(SOON)
      assert.equal((await trusting.positions.list()).length, 1)
    })
  })
})
