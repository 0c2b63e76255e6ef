import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PendingOrderType, TradeType } from '@bezel/protocol'
import { extendCandle } from './extendCandle.ts'
import { packTrigger } from './packTrigger.ts'
import { watchesOf, type OpenTrade, type OpenTradeInfo } from './watches.ts'

const INFO = { createdBlock: 5, tpLastUpdatedBlock: 6, slLastUpdatedBlock: 7 } as OpenTradeInfo

function trade(of: Partial<OpenTrade>): OpenTrade {
  const user = `0x${'11'.repeat(20)}` as const
  return { user, index: 3, tradeType: TradeType.TRADE, openPrice: 9n, tp: 0n, sl: 0n, ...of } as OpenTrade
}

function summary(of: Partial<OpenTrade>): unknown[] {
  return watchesOf(trade(of), INFO).map((w) => [w.orderType, w.triggerPrice, w.fromBlock, w.priceKind, w.isOpening])
}

describe('watchesOf', () => {
  it('watches a resting order by its trigger since its last edit', () => {
    assert.deepEqual(summary({ tradeType: TradeType.LIMIT }), [[PendingOrderType.LIMIT_OPEN, 9n, 5, 'mark', true]])
    assert.deepEqual(summary({ tradeType: TradeType.STOP }), [[PendingOrderType.STOP_OPEN, 9n, 5, 'mark', true]])
  })

  it('watches a position for liquidation by the index, and for TP and SL only where they are set', () => {
    const liquidation = [PendingOrderType.LIQ_CLOSE, 0n, 5, 'index', false]
    assert.deepEqual(summary({}), [liquidation])
    assert.deepEqual(summary({ tp: 11n, sl: 8n }), [
      [PendingOrderType.TP_CLOSE, 11n, 6, 'mark', false],
      [PendingOrderType.SL_CLOSE, 8n, 7, 'mark', false],
      liquidation,
    ])
  })

  it('starts anew when anything about the trigger changes', () => {
    const key = (of: Partial<OpenTrade>, info = INFO) => watchesOf(trade(of), info)[0]?.key
    assert.equal(key({ tp: 11n }), key({ tp: 11n }))
    assert.notEqual(key({ tp: 11n }), key({ tp: 12n }))
    assert.notEqual(key({ tp: 11n }), key({ tp: 11n }, { ...INFO, tpLastUpdatedBlock: 8 }))
    assert.notEqual(key({ collateralAmount: 1n }), key({ collateralAmount: 2n }))
  })
})

describe('extendCandle', () => {
  it('keeps the first open, the widest range and the last price', () => {
    const first = { open: 5n, high: 7n, low: 4n, current: 6n }
    const next = { open: 6n, high: 9n, low: 5n, current: 8n }
    assert.deepEqual(extendCandle(undefined, next), next)
    assert.deepEqual(extendCandle(first, next), { open: 5n, high: 9n, low: 4n, current: 8n })
  })
})

describe('packTrigger', () => {
  it('puts type, trader and index where the Diamond reads them', () => {
    const packed = packTrigger(6, `0x${'ab'.repeat(20)}`, 0x01020304)
    assert.equal(packed.toString(16), `1020304${'ab'.repeat(20)}06`)
  })
})
