import { parseAddress, type Address, type ApiError, type Hex } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { zeroAddress } from 'viem'
import { delegationTx } from '../../agents/agentRefusals.ts'
import { signL1, signUserSigned } from '@bezel/testkit/signEnvelope.ts'
import { notReady } from '../../ground/unavailable.ts'
import { createFacadeNonces } from '../signing/facadeNonces.ts'
import { VECTOR_KEY } from '../signing/testing/vectorSigner.ts'
import { ACTIONS, type TradeAction } from './actions.ts'
import { answerEnvelope } from './exchange.ts'
import type { ExchangeParts } from './exchangeParts.ts'
import {
  BEARER,
  openExchangeWorld,
  orderAction,
  orderItem,
  RELAYER,
  SIGNER,
  statusesOf,
  trigger,
  TRADER,
  type ExchangeWorld,
} from './testing/exchangeWorld.ts'

const OK = { status: 'ok', response: { type: 'default' } }

const OTHER_KEY = `0x${'9'.repeat(64)}`

describe('the way of an envelope', () => {
  let world: ExchangeWorld

  beforeEach(async () => {
    world = await openExchangeWorld()
  })
  afterEach(() => world.remove())

  const noop = { type: 'scheduleCancel' }
  const withParts = (changes: Partial<ExchangeParts>, action = noop as Parameters<ExchangeWorld['send']>[0]) =>
    answerEnvelope(
      { ...world.parts, ...changes },
      signL1(VECTOR_KEY, { action, nonce: world.base.market.nowMs + 7 }),
      BEARER,
    )
  const err = async (
    action: Parameters<ExchangeWorld['send']>[0],
    of: Parameters<ExchangeWorld['send']>[1] = {},
  ): Promise<string> => {
    const answer = await world.send(action, of)
    assert.equal(answer.status, 'err')
    return answer.response as string
  }

  it('acts on what other nodes committed before it was sent, and on nothing too old', async () => {
    const stop = orderItem({ b: false, s: '0.01666', r: true, t: trigger('sl', '55000') })
    const { parts } = world
    world.parts = { ...parts, settle: async () => void (await world.hold()) }
    assert.ok('resting' in (statusesOf(await world.send(orderAction(stop)))[0] as object))
    const away = async (): Promise<void> => {
      throw notReady('store_lagging')
    }
    const refused = { code: 'NOT_READY', details: { reason: 'store_lagging' } }
    world.parts = { ...parts, settle: away }
    const nonce = world.base.market.nowMs + 9
    for (const type of ['approveAgent', 'scheduleCancel'])
      await assert.rejects(world.send({ type }, { nonce }), refused)
    assert.deepEqual(await world.send({ type: 'noop' }), OK)
    world.parts = parts
    assert.deepEqual(await world.send(noop, { nonce }), OK, 'its nonce is not used')
  })

  it('does nothing for a trader of whom not everything is known, and never says that there is nothing', async () => {
    const order = orderItem({ p: '50000', r: true })
    const actions: Record<TradeAction, Parameters<ExchangeWorld['send']>[0]> = {
      order: orderAction(order),
      cancel: { type: 'cancel', cancels: [{ a: 0, o: 7 }] },
      cancelByCloid: { type: 'cancelByCloid', cancels: [{ asset: 0, cloid: `0x${'c1'.repeat(16)}` }] },
      modify: { type: 'modify', oid: 7, order },
      batchModify: { type: 'batchModify', modifies: [{ oid: 7, order }] },
      updateLeverage: { type: 'updateLeverage', asset: 0, isCross: false, leverage: 9 },
      updateIsolatedMargin: { type: 'updateIsolatedMargin', asset: 0, isBuy: true, ntli: 1_000_000 },
      scheduleCancel: noop,
    }
    const orders = { ...world.parts.orders, isKnown: () => false }
    for (const [name, action] of Object.entries(actions)) {
      world.base.market.nowMs += 10
      const refused = { code: 'NOT_READY', details: { reason: 'snapshot' } }
      await assert.rejects(withParts({ orders }, action), refused, name)
    }
    assert.deepEqual(world.relayer.taken, [])
  })

  it('classifies every action by its name alone, before anything else', async () => {
    for (const [type, kind] of Object.entries(ACTIONS)) {
      if (kind === 'trade' || kind === 'user-signed') continue
      // The signature of an unknown key, an old nonce, and a chain without a relayer.
      const envelope = signL1(OTHER_KEY, { action: { type }, nonce: 1 })
      const answer = await answerEnvelope({ ...world.parts, relayer: null }, envelope, BEARER)
      assert.equal(answer.status, kind === 'noop' ? 'ok' : 'err', type)
      if (kind === 'custody') assert.match(answer.response as string, /never moves funds/)
    }
  })

  it('says that a chain without a relayer is read-only', async () => {
    const code = (error: unknown) => (error as { code: string }).code === 'CHAIN_READ_ONLY'
    await assert.rejects(withParts({ relayer: null }), code)
    await assert.rejects(withParts({ relayer: null }, { type: 'approveAgent' }), code)
    const { orders } = world.parts
    await assert.rejects(withParts({ orders: { ...orders, chain: { ...orders.chain, writes: false } } }), code)
  })

  it('says that other nodes relay, whatever the action', async () => {
    const elsewhere = { relayer: null, isRelayerElsewhere: true }
    const reason = (error: unknown) => (error as ApiError).details?.['reason'] === 'relayer_elsewhere'
    for (const type of ['order', 'approveAgent', 'noop']) await assert.rejects(withParts(elsewhere, { type }), reason)
    const { orders } = world.parts
    const readOnly = { ...elsewhere, orders: { ...orders, chain: { ...orders.chain, writes: false } } }
    await assert.rejects(withParts(readOnly), (error: unknown) => (error as ApiError).code === 'CHAIN_READ_ONLY')
  })

  it('refuses what can not be read as malformed', async () => {
    const { t: _terms, ...withoutTerms } = orderItem()
    const bad = [
      { type: 'order', orders: {}, grouping: 'na' },
      { type: 'order', orders: [1], grouping: 'na' },
      { type: 'order', orders: [withoutTerms], grouping: 'na' },
      { type: 'order', orders: [orderItem({ p: 1 })], grouping: 'na' },
      { type: 'order', orders: [orderItem({ p: '1e5' })], grouping: 'na' },
      { type: 'order', orders: [orderItem({ t: { limit: { tif: 'Fok' } } })], grouping: 'na' },
      {
        type: 'order',
        orders: [orderItem({ t: { trigger: { isMarket: true, triggerPx: '1', tpsl: 'x' } } })],
        grouping: 'na',
      },
      { type: 'order', orders: [orderItem({ c: '0x12' })], grouping: 'na' },
      { type: 'order', orders: [orderItem()], grouping: 'other' },
      { type: 'order', orders: [orderItem()] },
      { type: 'cancel', cancels: [{ a: 0 }] },
      { type: 'cancel', cancels: [{ a: -1, o: 1 }] },
      { type: 'cancelByCloid', cancels: [{ asset: 0, cloid: 'x' }] },
      { type: 'modify', oid: 'x', order: orderItem() },
      { type: 'batchModify', modifies: [{ oid: 1 }] },
      { type: 'updateLeverage', asset: 0, isCross: true },
      { type: 'updateLeverage', asset: 0, leverage: 5 },
      { type: 'updateIsolatedMargin', asset: 0, isBuy: true, ntli: '1' },
      { type: 'scheduleCancel', time: 'now' },
    ]
    for (const action of bad) {
      await assert.rejects(world.send(action as never), { name: 'MalformedEnvelope' }, JSON.stringify(action))
    }
  })

  it('takes a grouping of the newer kind for none', async () => {
    const answer = await world.send({
      type: 'order',
      orders: [orderItem()],
      grouping: { p: 1 },
      builder: { b: `0x${'1'.repeat(40)}`, f: 10 },
    })
    assert.ok('resting' in (statusesOf(answer)[0] as object))
  })

  it('asks for a nonce of now, an action that is still wanted, and each only once', async () => {
    const { nowMs } = world.base.market
    assert.match(await err(noop, { nonce: nowMs - 60_001 }), /^Invalid nonce: .* more than 60 s/)
    assert.match(await err(noop, { expiresAfter: nowMs - 1 }), /^Action expired/)
    assert.deepEqual(await world.send(noop, { nonce: nowMs - 5 }), OK)
    assert.match(await err(noop, { nonce: nowMs - 5 }), /already used/)
    await world.restart()
    assert.match(await err(noop, { nonce: nowMs - 5 }), /already used/)
  })

  it('uses the nonce up also when the action is refused', async () => {
    const nonce = world.base.market.nowMs - 9
    const refused = orderAction(orderItem({ s: '0' }))
    assert.ok('error' in (statusesOf(await world.send(refused, { nonce }))[0] as object))
    await world.restart()
    assert.match(await err(refused, { nonce }), /already used/)
  })

  it('uses the nonce up also when it answers with a fault, for every node', async () => {
    const { parts } = world
    const other = { ...parts, nonces: await createFacadeNonces({ store: world.base.opened.store, now: parts.now }) }
    const action = orderAction(orderItem())
    const nonce = world.base.market.nowMs - 9
    world.parts = { ...parts, orders: { ...parts.orders, isKnown: () => false } }
    await assert.rejects(world.send(action, { nonce }), { code: 'NOT_READY' })
    world.parts = other
    assert.match(await err(action, { nonce }), /already used/)
    assert.deepEqual(world.relayer.taken, [])
    assert.ok('resting' in (statusesOf(await world.send(action))[0] as object))
  })

  it('names whom a signature recovers to when nobody knows it', async () => {
    world.base.node.isDelegator = (trader) => trader === TRADER
    assert.match(await err(noop, { key: OTHER_KEY }), /^User or API Wallet 0x[0-9a-f]{40} does not exist\. /)
    await world.register({ signedAtMs: world.base.market.nowMs + 1_000 })
    assert.match(await err(noop, { nonce: world.base.market.nowMs }), /older than the registration/)
  })

  it('counts an agent, and nobody else', async () => {
    world.base.node.isDelegator = (trader) => trader === TRADER
    for (let i = 0; i < 60; i += 1) {
      assert.deepEqual(await world.send(noop), OK)
      await err(noop, { key: OTHER_KEY })
    }
    assert.match(await err(noop), /^Too many cumulative requests sent/)
  })

  it('knows no vaults but the trader itself', async () => {
    assert.match(await err(noop, { vaultAddress: RELAYER }), /no vaults/)
    assert.deepEqual(await world.send(noop, { vaultAddress: TRADER }), OK)
  })

  it('asks whether the agent still may act', async () => {
    const { scope } = await world.register()
    await world.register({ revoked: true })
    assert.match(await err(noop), /^User or API Wallet 0x1479\w+ does not exist any more: it was revoked\./)
    await world.register({ scope: { ...scope, expiresAt: world.base.market.nowMs } })
    assert.match(await err(noop), /its time is over/)
    await world.register({ scope: { ...scope, permissions: 'read' } })
    assert.match(await err(noop), /read only/)
  })

  it('repeats what the master wallet has to send until the relayer is the delegate', async () => {
    const text = /^L1 error: API Wallet 0x1479\w+ is not yet the on-chain delegate of its user\. /
    const tx = delegationTx(world.parts.orders.chain, RELAYER)
    world.base.node.delegate = SIGNER
    for (const action of [
      noop,
      orderAction(orderItem()),
      { type: 'updateLeverage', asset: 0, isCross: true, leverage: 5 },
    ]) {
      const answer = await world.send(action)
      assert.match(answer.response as string, text)
      assert.deepEqual(answer.delegationTx, tx)
    }
    world.base.node.delegate = RELAYER
    assert.deepEqual(await world.send(noop), OK)
  })

  it('does the same to an agent that sends for itself', async () => {
    await world.register({ mode: 'self' })
    const answer = await world.send(noop)
    assert.match(answer.response as string, /not yet the on-chain delegate/)
    assert.deepEqual(answer.delegationTx, delegationTx(world.parts.orders.chain, RELAYER))
  })

  it('notices that the delegate changed while the node was asked', async () => {
    await world.send(noop)
    world.base.node.delegate = SIGNER
    const answer = await world.send(orderAction(orderItem()))
    assert.match(answer.response as string, /not yet the on-chain delegate/)
    assert.equal(world.relayer.taken.length, 0)
  })

  describe('approveAgent', () => {
    const agent = parseAddress(`0x${'d'.repeat(40)}`) as Address
    const approve = (nonce = world.base.market.nowMs, network = BEARER.network, agentAddress = agent.toLowerCase()) =>
      answerEnvelope(
        world.parts,
        signUserSigned(OTHER_KEY, {
          type: 'approveAgent',
          signatureChainId: '0x66eee',
          hyperliquidChain: 'Testnet',
          agentAddress,
          agentName: 'bot',
          nonce,
        }),
        { ...BEARER, network },
      )

    it('says what to send, or that nothing is left to send', async () => {
      world.base.node.delegate = SIGNER
      assert.deepEqual(await approve(), { ...OK, delegationTx: delegationTx(world.parts.orders.chain, RELAYER) })
      world.base.node.delegate = RELAYER
      world.base.market.nowMs += 3_000
      assert.deepEqual(await approve(), { ...OK, delegationTx: null })
      assert.equal((await world.parts.registry.findAgent('arbitrum', agent))?.mode, 'relayed')
    })

    it('is counted by the IP it comes from, apart from everything else', async () => {
      for (let i = 0; i < 10; i += 1) assert.equal((await approve(world.base.market.nowMs + i)).status, 'ok')
      const answer = await approve(world.base.market.nowMs + 10)
      assert.deepEqual(answer, {
        status: 'err',
        response:
          'Too many cumulative requests sent. The limit of 10 requests a minute is used up. Retry after the window.',
      })
      assert.deepEqual(await world.send(noop), OK, 'trading goes on')
      assert.equal((await approve(world.base.market.nowMs + 11, '203.0.113.8')).status, 'ok')
    })

    it('has what ended agents left burnt before it answers, and names what may be mined all the same', async () => {
      const left = [{ txHash: `0x${'ab'.repeat(32)}` as Hex, orderId: null }]
      const asked: Address[] = []
      const relayer = { ...world.relayer, burnRevoked: async (of: Address) => (asked.push(of), left) }
      world.parts = { ...world.parts, relayer }
      const answer = await approve()
      assert.deepEqual(answer, { ...OK, delegationTx: null, mayStillBeMined: left })
      assert.deepEqual(asked, [(await world.parts.registry.findAgent('arbitrum', agent))?.trader])
    })

    it('is shed when there is too much to do, but not the end of an agent', async () => {
      const admit = (): void => {
        throw notReady('overloaded')
      }
      await approve()
      world.parts = { ...world.parts, overload: { admit } }
      await assert.rejects(approve(), { code: 'NOT_READY' })
      assert.deepEqual(await approve(world.base.market.nowMs + 1, BEARER.network, zeroAddress), OK)
    })

    it('tells a refusal as an err', async () => {
      await approve()
      const answer = await approve()
      assert.equal(answer.status, 'err')
      assert.match(answer.response as string, /already used/)
    })
  })
})
