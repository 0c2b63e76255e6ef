import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { signal } from '@preact/signals'
import type { BezelClient, Order } from '@bezel/sdk'
import { createMemoryStore, type KeyValueStore } from '../data/storage.ts'
import { filled, TRADER } from '../data/testing/samples.ts'
import { actionKey } from './actionKey.ts'
import { AccountChangedError } from './createSession.ts'
import { followInFlight } from './followInFlight.ts'
import { createInFlight, OrderUnclearError } from './inFlight.ts'
import { lookUp, placingOnce } from './placeOnce.ts'
import { createFakeOrders, ORDER, type FakeOrders } from './testing/fakeOrders.ts'

/** Opens the page over a service; with the storage of an earlier page it is that one after a reload. */
function openPage(service: FakeOrders, tab: KeyValueStore = createMemoryStore()) {
  const inFlight = createInFlight(tab, () => 1_000)
  const placed: string[] = []
  const told: string[] = []
  const known = signal<readonly Order[] | null>(null)
  let ids = 0
  let sending: string | null = null
  const stop = followInFlight({
    inFlight,
    account: signal({ chain: 'base', trader: TRADER }),
    orders: known,
    isPlacing: (clientId) => clientId === sending,
    lookUp: (clientId) => lookUp(service.clientOf(service.key), clientId),
    tell: ({ title, body }) => told.push(`${title}: ${body}`),
  })
  const newAction = (onWait: () => void = () => undefined): BezelClient => {
    const key = actionKey(service.key, {
      onSending: () => sending !== null && inFlight.mark(sending, { stage: 'sending' }),
      onSent: () => sending !== null && inFlight.mark(sending, { stage: 'sent' }),
    })
    return placingOnce({
      client: service.clientOf(key),
      trader: TRADER,
      inFlight,
      newClientId: () => `${Math.random()}-${(ids += 1)}`,
      expectSending: (clientId) => (sending = clientId),
      onPlaced: ({ id }) => placed.push(id),
      wait: async () => onWait(),
    })
  }
  return { tab, inFlight, placed, told, known, newAction, stop }
}

describe('an order of the page', () => {
  it('has a client id that is kept until it was sent', async () => {
    const service = createFakeOrders()
    const { newAction, inFlight, placed } = openPage(service)
    const order = await newAction().orders.create(ORDER)
    assert.match(service.orders[0]!.clientId!, /\S/)
    assert.deepEqual([service.sent, placed, inFlight.all.value.length], [1, [order.id], 0])
    await newAction().orders.create(ORDER)
    assert.equal(service.sent, 2)
  })

  it('is forgotten when the service refuses it or the wallet declines', async () => {
    const service = createFakeOrders()
    const { newAction, inFlight } = openPage(service)
    service.prepares = 'refuse'
    await assert.rejects(newAction().orders.create(ORDER), { code: 'MARKET_CLOSED' })
    service.prepares = 'lose-answer'
    await assert.rejects(newAction().orders.create(ORDER), TypeError)
    for (const plan of ['refuse', 'no-gas'] as const) {
      service.plan = plan
      await assert.rejects(newAction().orders.create(ORDER), { code: 'BROADCAST_FAILED' })
    }
    assert.deepEqual([service.sent, inFlight.all.value], [0, []])
  })

  it('whose answer was lost is found on the chain, and counts as sent', async () => {
    const service = createFakeOrders()
    const { newAction, inFlight } = openPage(service)
    service.plan = 'lose-answer'
    const order = await newAction().orders.create(ORDER)
    assert.deepEqual([order.id, order.status, service.sent], ['1', 'pending', 1])
    assert.deepEqual(inFlight.all.value, [])
  })

  it('that may have been sent is not ordered again, until it is known', async () => {
    const service = createFakeOrders()
    const { newAction, inFlight, told, known } = openPage(service)
    known.value = []
    service.plan = 'lose-transaction'
    await assert.rejects(newAction().orders.create(ORDER), OrderUnclearError)
    assert.deepEqual(
      inFlight.unclear.value.map(({ stage }) => stage),
      ['sending'],
    )
    await assert.rejects(newAction().orders.create(ORDER), /may be on its way already/)
    assert.equal(service.orders.length, 1)
    // Another order is another order.
    await newAction().orders.create({ ...ORDER, size: '0.02' })
    // The first one expires, so nothing was sent, and the way is free.
    service.orders[0] = { ...service.orders[0]!, status: 'expired' }
    known.value = [...service.orders]
    assert.match(told[0]!, /Order 1 in BTC\/USD was not sent/)
    await newAction().orders.create(ORDER)
    assert.equal(service.sent, 2)
  })

  it('that was sent unseen is told before the same is ordered again', async () => {
    const service = createFakeOrders()
    const { newAction } = openPage(service)
    service.isDown = true
    service.plan = 'lose-answer'
    await assert.rejects(newAction().orders.create(ORDER), OrderUnclearError)
    await assert.rejects(newAction().orders.create(ORDER), /may be on its way already/)
    service.isDown = false
    await assert.rejects(newAction().orders.create(ORDER), /placed once, and is pending\. Nothing was ordered now/)
    assert.equal(service.sent, 1)
    await newAction().orders.create(ORDER)
    assert.equal(service.sent, 2)
  })

  it('that is shown before it is sent is sent once', async () => {
    const service = createFakeOrders()
    const { newAction, inFlight, placed } = openPage(service)
    const shown = await newAction().orders.prepareVerified(ORDER)
    assert.deepEqual([service.sent, inFlight.all.value[0]?.orderId], [0, '1'])
    await shown.send()
    assert.deepEqual([service.sent, placed, inFlight.all.value], [1, ['1'], []])
    service.prepares = 'refuse'
    await assert.rejects(newAction().orders.prepareVerified(ORDER))
    assert.deepEqual(inFlight.all.value, [])
  })

  it('of an account that was switched is surely not sent', async () => {
    const service = createFakeOrders()
    const { newAction, inFlight } = openPage(service)
    const { sender } = service.key
    Object.assign(sender, { sendTransaction: () => Promise.reject(new AccountChangedError()) })
    await assert.rejects(newAction().orders.create(ORDER), { code: 'BROADCAST_FAILED' })
    assert.deepEqual(inFlight.all.value, [])
  })
})

describe('after a reload in the middle of an order', () => {
  it('that was not sent, nothing is sent, and that is said', async () => {
    const service = createFakeOrders()
    const first = openPage(service)
    await first.newAction().orders.prepareVerified(ORDER)
    first.stop()
    const { told, known, inFlight } = openPage(service, first.tab)
    assert.deepEqual(told, [])
    known.value = [...service.orders]
    assert.match(told[0]!, /Order not sent/)
    assert.deepEqual([inFlight.all.value, service.sent], [[], 0])
  })

  it('that was being sent, it is looked for and told', async () => {
    const service = createFakeOrders()
    const first = openPage(service)
    service.plan = 'lose-transaction'
    service.isDown = true
    await assert.rejects(first.newAction().orders.create(ORDER), OrderUnclearError)
    service.isDown = false
    first.stop()
    const { told, known, inFlight } = openPage(service, first.tab)
    known.value = [...service.orders]
    // It may still come: the wallet can have its window open.
    assert.deepEqual([told.length, inFlight.unclear.value.length], [0, 1])
    known.value = [{ ...service.orders[0]!, ...filled(3_000) }]
    assert.match(told[0]!, /Order 1 in BTC\/USD was placed once, and is filled/)
    assert.deepEqual(inFlight.all.value, [])
  })

  it('that the lists do not show, the service is asked', async () => {
    const service = createFakeOrders()
    const first = openPage(service)
    service.plan = 'lose-answer'
    service.isDown = true
    await assert.rejects(first.newAction().orders.create(ORDER), OrderUnclearError)
    service.isDown = false
    first.stop()
    const { told, known } = openPage(service, first.tab)
    known.value = []
    await new Promise((resolve) => setTimeout(resolve, 5))
    assert.match(told[0]!, /placed once, and is pending/)
  })
})
