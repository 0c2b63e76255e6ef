import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import type { Order } from '@bezel/sdk'
import { signal } from '@preact/signals'
import { createMemoryStore, type KeyValueStore } from '../data/storage.ts'
import { filled, sampleOrder, TRADER } from '../data/testing/samples.ts'
import { followInFlight } from './followInFlight.ts'
import { createInFlight, type InFlightOrder } from './inFlight.ts'
import { ORDER } from './testing/fakeOrders.ts'

const OWNER = { chain: 'base', trader: TRADER }
const PREPARED = sampleOrder({ id: '7', clientId: 'mine' })
const SENT: Order = { ...PREPARED, status: 'pending' }

const stops: (() => void)[] = []
afterEach(() => stops.splice(0).forEach((stop) => stop()))

/** Returns the storage of a tab in which an order had come to a stage. */
function tabWith(stage: InFlightOrder['stage'], of = OWNER): KeyValueStore {
  const tab = createMemoryStore()
  const inFlight = createInFlight(tab, () => 0)
  inFlight.begin({ clientId: 'mine', ...of, request: ORDER })
  inFlight.mark('mine', { stage })
  return tab
}

/** Opens the page in a tab. The service answers each look with `found`. */
function openPage(tab: KeyValueStore, found: Order | null | undefined = undefined) {
  const inFlight = createInFlight(tab, () => 0)
  const orders = signal<readonly Order[] | null>(null)
  const account = signal<typeof OWNER | null>(OWNER)
  const told: string[] = []
  const looks: string[] = []
  const placing = new Set<string>()
  const stop = followInFlight({
    inFlight,
    account,
    orders,
    isPlacing: (clientId) => placing.has(clientId),
    async lookUp(clientId) {
      looks.push(clientId)
      return found
    },
    tell: ({ tone, title, body, key }) => told.push([tone, title, body, key].join(' | ')),
  })
  stops.push(stop)
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  return { inFlight, orders, account, told, looks, placing, settled }
}

describe('the notice of what became of an order', () => {
  it('tells each outcome once, with the tone that it deserves', () => {
    const outcomes: readonly (readonly [Partial<Order>, RegExp])[] = [
      [filled(3_000), /^good \| What became of your order \| Order 7 in BTC\/USD was placed once, and is filled\./],
      [{ status: 'pending' }, /^good .* is pending\./],
      [{ status: 'open' }, /^good .* is resting\./],
      [{ status: 'prepared', txHash: '0x12' }, /^info .* was sent and waits for the chain\./],
      [{ status: 'rejected' }, /^warn .* was rejected\. Its timeline says why\./],
      [{ status: 'timed_out' }, /^warn .* timed out\. Reclaim it under Orders\./],
      [{ status: 'canceled' }, /^info .* is cancelled\./],
      [{ status: 'expired' }, /^info .* was not sent, and has expired\. Nothing was traded\./],
    ]
    for (const [state, words] of outcomes) {
      const { orders, told, inFlight } = openPage(tabWith('sending'))
      orders.value = [{ ...PREPARED, ...state }]
      assert.match(told[0]!, words)
      assert.match(told[0]!, / \| order-7$/, 'it takes the place of the message about the sending')
      assert.deepEqual(inFlight.all.value, [])
      orders.value = [{ ...PREPARED, ...state, updatedAt: 9 }]
      assert.equal(told.length, 1)
    }
  })

  it('waits while the wallet may still send, and for the orders and the account', async () => {
    const { orders, account, told, inFlight, settled } = openPage(tabWith('sending'), PREPARED)
    account.value = null
    orders.value = [SENT]
    await settled()
    assert.deepEqual(told, [])
    orders.value = null
    account.value = OWNER
    orders.value = [PREPARED]
    await settled()
    assert.deepEqual([told, inFlight.unclear.value.length], [[], 1])
    orders.value = [SENT]
    assert.equal(told.length, 1)
  })

  it('asks the service once for an order of before a reload that is in no list', async () => {
    const { orders, told, looks, settled } = openPage(tabWith('sent'), SENT)
    orders.value = []
    await settled()
    assert.match(told[0]!, /is pending/)
    orders.value = []
    await settled()
    assert.deepEqual([looks, told.length], [['mine'], 1])
  })

  it('goes on waiting when the service does not answer', async () => {
    const { orders, told, inFlight, settled } = openPage(tabWith('sent'), undefined)
    orders.value = []
    await settled()
    assert.deepEqual([told, inFlight.unclear.value.length], [[], 1])
    orders.value = [SENT]
    assert.equal(told.length, 1)
  })

  it('says that nothing was sent, when the page was left before or the service knows of none', async () => {
    const early = openPage(tabWith('preparing'))
    early.orders.value = []
    assert.match(early.told[0]!, /^info \| Order not sent \| .*Nothing was sent/)
    const unknown = openPage(tabWith('sending'), null)
    unknown.orders.value = []
    await unknown.settled()
    assert.match(unknown.told[0]!, /^info \| Order not sent/)
    assert.deepEqual([early.inFlight.all.value, unknown.inFlight.all.value], [[], []])
  })

  it('is not about an order that is being placed now, nor about one of another account', async () => {
    const page = openPage(tabWith('sending'))
    page.placing.add('mine')
    page.orders.value = [SENT]
    const other = openPage(tabWith('sending', { ...OWNER, chain: 'polygon' }), SENT)
    other.orders.value = [SENT]
    await other.settled()
    assert.deepEqual([page.told, other.told, other.looks], [[], [], []])
  })
})
