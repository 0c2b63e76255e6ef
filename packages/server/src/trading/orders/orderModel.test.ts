import { OrderSchema, Price } from '@bezel/protocol'
import { Value } from '@sinclair/typebox/value'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { foldOrder } from './foldOrder.ts'
import { orderAnswer } from './orderModel.ts'
import {
  anAttempt,
  anOrder,
  clockAt,
  decimal,
  executed,
  hash,
  LIMIT_ORDER,
  placed,
  T0,
  updated,
  VALID_MS,
} from './testing/orderHistory.ts'

describe('the answer with an order', () => {
  it('of a prepared one has what was asked for, and until when', () => {
    const record = anOrder({ clientId: 'mine', sl: decimal('1'), tp: decimal('2'), reduceOnly: true })
    const answer = orderAnswer(record, foldOrder(record, [anAttempt(1)], [], clockAt())!)
    assert.ok(Value.Check(OrderSchema, answer))
    assert.deepEqual(answer, {
      id: '7',
      trader: record.trader,
      market: 'BTC/USD',
      side: 'long',
      type: 'market',
      size: '0.1',
      price: null,
      leverage: '10',
      collateral: 'USDC',
      sl: '1',
      tp: '2',
      reduceOnly: true,
      slippage: '1',
      clientId: 'mine',
      status: 'prepared',
      txHash: null,
      expiresAt: T0 + VALID_MS,
      fill: null,
      reason: null,
      createdAt: T0,
      updatedAt: T0,
    })
  })

  it('of one on the chain has the terms in force there', () => {
    const events = [
      placed({ block: 1_001, n: 1 }),
      updated({ block: 1_002 }, { price: Price.of(1n), sl: Price.zero, tp: Price.of(25_000_000_000n), slippageP: 500 }),
      executed({ block: 1_003 }, null),
    ]
    const answer = orderAnswer(LIMIT_ORDER, foldOrder(LIMIT_ORDER, [anAttempt(1)], events, clockAt())!)
    assert.ok(Value.Check(OrderSchema, answer))
    assert.equal(answer.price, '0.0000000001')
    assert.equal(answer.sl, null)
    assert.equal(answer.tp, '2.5')
    assert.equal(answer.slippage, '0.5')
    assert.equal(answer.status, 'filled')
    assert.equal(answer.txHash, hash(1))
    assert.equal(answer.expiresAt, null)
    assert.equal(answer.fill?.positionId, '8')
  })
})
