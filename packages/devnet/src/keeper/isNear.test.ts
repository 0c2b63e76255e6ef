import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PendingOrderType, TradeType } from '@bezel/protocol'
import fc from 'fast-check'
import { isNear } from './isNear.ts'
import type { OpenTrade, Watch } from './watches.ts'

const P10 = 10n ** 10n

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

describe('isNear', () => {
  const { LIMIT, STOP } = TradeType
  const { LIMIT_OPEN, STOP_OPEN, TP_CLOSE, SL_CLOSE, LIQ_CLOSE } = PendingOrderType
  // Kind of trigger, side, and whether it executes at or below its price.
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
