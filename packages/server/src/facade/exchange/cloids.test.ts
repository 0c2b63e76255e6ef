import { Price } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { usd } from '../../market/testing/fixtures.ts'
import type { SqlValue } from '../../store/sql.ts'
import {
  gtc,
  openExchangeWorld,
  orderAction,
  orderItem,
  placedAt,
  statusesOf,
  trigger,
  type ExchangeWorld,
} from './testing/exchangeWorld.ts'
import { orderSteps } from './testing/orderSteps.ts'

const CLOID = '0x000000000000000000000000000abcde'

describe('a cloid', () => {
  let world: ExchangeWorld

  beforeEach(async () => {
    world = await openExchangeWorld()
  })
  afterEach(() => world.remove())

  const { errorOf } = orderSteps(() => world)

  it('is used up when its order was canceled, and says so', async () => {
    const answer = await world.sendWhile(orderAction(orderItem({ c: CLOID, p: '50000', t: gtc })), (oid) =>
      world.happen(oid, placedAt()),
    )
    const { oid } = (statusesOf(answer)[0] as { resting: { oid: number } }).resting
    await world.happen(oid, { kind: 'canceled' })
    assert.match(
      await errorOf(orderItem({ c: CLOID, p: '50000', t: gtc })),
      new RegExp(`^Duplicate cloid: the order that it stands for, oid ${oid}, was canceled\\. Use a new cloid`),
    )
  })

  it('is used up when its trigger is over', async () => {
    const position = await world.hold()
    const stop = orderItem({ b: false, s: '0.01666', r: true, t: trigger('sl', '55000'), c: CLOID })
    await world.sendWhile(orderAction(stop), () => world.change(position.record.id, { sl: usd(55_000) }))
    world.change(position.record.id, { sl: Price.zero })
    assert.match(await errorOf(stop), /^Duplicate cloid: .*, is over\. Use a new cloid/)
  })

  it('is answered with its order when another request stores it between two reads', async () => {
    const { store } = world.parts
    const action = orderAction(orderItem({ c: CLOID, p: '50000', t: gtc }))
    const place = () => world.sendWhile(action, (oid) => world.happen(oid, placedAt()))
    let first: Awaited<ReturnType<typeof place>> | undefined
    let isRead = false
    const get: typeof store.read.get = async <Row>(text: string, ...params: readonly SqlValue[]) => {
      const row = await store.read.get<Row>(text, ...params)
      if (!isRead && /facade_cloids|from orders/.test(text)) {
        isRead = true
        world.parts = { ...world.parts, store }
        first = await place()
      }
      return row
    }
    world.parts = { ...world.parts, store: { ...store, read: { ...store.read, get } } }
    const late = await world.send(action)
    assert.deepEqual(statusesOf(late), statusesOf(first!))
  })
})
