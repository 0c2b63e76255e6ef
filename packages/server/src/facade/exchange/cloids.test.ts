import { Price } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { usd } from '../../market/testing/fixtures.ts'
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
})
