import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PendingOrderType, TradeType } from '@bezel/protocol'
import { extendCandle, packTrigger, watchesOf, isDue, isNear, type Watch } from './createKeeper.ts'
import type { OpenTrade, OpenTradeInfo } from '../diamond/readLists.ts'
import fc from 'fast-check'

const P10 = 10n ** 10n

const INFO = { createdBlock: 5, tpLastUpdatedBlock: 6, slLastUpdatedBlock: 7 } as OpenTradeInfo

function tradeOf(of: Partial<OpenTrade>): OpenTrade {
  const user = `0x${'11'.repeat(20)}` as const
  return { user, index: 3, tradeType: TradeType.TRADE, openPrice: 9n, tp: 0n, sl: 0n, ...of } as OpenTrade
}

function summary(of: Partial<OpenTrade>): unknown[] {
  return watchesOf(tradeOf(of), INFO).map((w) => [w.orderType, w.triggerPrice, w.fromBlock, w.priceKind, w.isOpening])
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
    const key = (of: Partial<OpenTrade>, info = INFO) => watchesOf(tradeOf(of), info)[0]?.key
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

describe('isNear', () => {
  const { LIMIT, STOP } = TradeType
  const { LIMIT_OPEN, STOP_OPEN, TP_CLOSE, SL_CLOSE, LIQ_CLOSE } = PendingOrderType
  // Kind of trigger, side, and true when it executes at or below its price.
  const kinds = [
    { tradeType: LIMIT, orderType: LIMIT_OPEN, long: true, below: true },
    { tradeType: LIMIT, orderType: LIMIT_OPEN, long: false, below: false },
    { tradeType: STOP, orderType: STOP_OPEN, long: true, below: false },
    { tradeType: STOP, orderType: STOP_OPEN, long: false, below: true },
    { orderType: TP_CLOSE, long: true, below: false },
    { orderType: TP_CLOSE, long: false, below: true },
    { orderType: SL_CLOSE, long: true, below: true },
    { orderType: SL_CLOSE, long: false, below: false },
  ]

  for (const { below, ...kind } of kinds) {
    const side = kind.long ? 'long' : 'short'
    it(`never overlooks a reached trigger: order type ${kind.orderType}, ${side}`, () => {
      fc.assert(
        fc.property(fc.bigInt(1n, 1000n), fc.bigInt(0n, 500n), fc.bigInt(0n, 500n), (trigger, beyond, width) => {
          const low = below ? (trigger > beyond ? trigger - beyond : 1n) : trigger + beyond
          assert.ok(isNear(watch({ ...kind, trigger, low, high: low + width })))
        }),
      )
    })

    it(`asks nothing about a trigger that is far away: order type ${kind.orderType}, ${side}`, () => {
      const price = below ? 130n : 70n
      assert.equal(isNear(watch({ ...kind, trigger: 100n, low: price, high: price })), false)
    })
  }

  it('looks closely at a position that lost a quarter of its collateral, on both sides', () => {
    assert.equal(isNear(watch({ orderType: LIQ_CLOSE, low: 97n, high: 110n })), true)
    assert.equal(isNear(watch({ orderType: LIQ_CLOSE, low: 98n, high: 110n })), false)
    assert.equal(isNear(watch({ orderType: LIQ_CLOSE, long: false, low: 90n, high: 103n })), true)
    assert.equal(isNear(watch({ orderType: LIQ_CLOSE, long: false, low: 90n, high: 102n })), false)
  })
})

describe('a liquidation that no price brings near', () => {
  it('is asked about again after twenty blocks, because of the holding fees', () => {
    const quiet = watch({ orderType: PendingOrderType.LIQ_CLOSE, low: 100n, high: 100n })
    assert.equal(isNear(quiet), false)
    assert.equal(isDue({ ...quiet, askedAtBlock: 100 }, 119), false)
    assert.equal(isDue({ ...quiet, askedAtBlock: 100 }, 120), true)
    assert.equal(isDue({ ...quiet, orderType: PendingOrderType.SL_CLOSE, askedAtBlock: 100 }, 120), false)
  })
})

function watch(of: {
  tradeType?: number
  long?: boolean
  orderType: number
  trigger?: bigint
  low: bigint
  high: bigint
}): Watch {
  const trade = {
    user: `0x${'11'.repeat(20)}`,
    index: 0,
    tradeType: of.tradeType ?? TradeType.TRADE,
    long: of.long ?? true,
    leverage: 10_000,
    openPrice: 100n * P10,
  } as OpenTrade
  return {
    key: '',
    trade,
    orderType: of.orderType,
    isOpening: of.tradeType !== undefined,
    priceKind: 'mark',
    triggerPrice: (of.trigger ?? 0n) * P10,
    fromBlock: 0,
    candle: { open: of.low * P10, high: of.high * P10, low: of.low * P10, current: of.high * P10 },
  }
}
