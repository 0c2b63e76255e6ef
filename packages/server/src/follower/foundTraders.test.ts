import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PendingOrderType } from '@bezel/protocol'
import fc from 'fast-check'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import { ALICE, BOB, address, chainTrade, requested, stored } from './testing/handMade.ts'
import {
  byTrader,
  disagreementOf,
  endedTradesOf,
  halvesOf,
  isPosition,
  listCallsOf,
  openTradesOf,
  withFees,
} from './foundTraders.ts'

const { tradeInfo: INFO, liquidationParams: PARAMS } = stored().args
const FEES = {
  realizedTradingFeesCollateral: 1n,
  realizedPnlCollateral: -2n,
  manuallyRealizedNegativePnlCollateral: 3n,
  alreadyTransferredNegativePnlCollateral: 4n,
  virtualAvailableCollateralInDiamond: 5n,
  __placeholder: 0n,
  initialAccFundingFeeP: -6n,
  initialAccBorrowingFeeP: 7n,
}
const OLD = { accPairFee: 8n, accGroupFee: 9n, block: 10, __placeholder: 0n }

function lists(...trades: readonly ReturnType<typeof chainTrade>[]) {
  return { trades, infos: trades.map(() => INFO), liquidationParams: trades.map(() => PARAMS) }
}

describe('the lists of the Diamond', () => {
  it('are trades with their infos, without the empty entries at the end', () => {
    const [found, ...others] = openTradesOf(lists(chainTrade({ index: 4 }), chainTrade({ isOpen: false })))
    assert.deepEqual(others, [])
    assert.equal(found!.trade.index, 4)
    assert.equal('__placeholder' in found!.trade, false)
    assert.deepEqual(found!.info, { collateralPriceUsd: 100_000_000, contractsVersion: 2, lastPosIncreaseBlock: 1 })
    assert.deepEqual([found!.maxSlippageP, found!.createdBlock], [INFO.maxSlippageP, INFO.createdBlock])
  })

  it('must fit together', () => {
    assert.throws(() => openTradesOf({ ...lists(chainTrade()), infos: [] }), NodeUnavailableError)
    assert.throws(() => openTradesOf({ ...lists(chainTrade()), liquidationParams: [] }), NodeUnavailableError)
  })

  it('tell positions from resting orders', () => {
    const found = openTradesOf(lists(chainTrade(), chainTrade({ tradeType: 1 }), chainTrade({ tradeType: 2 })))
    assert.deepEqual(found.map(isPosition), [true, false, false])
  })

  it('get the four fees that a valuation reads, and the start of the old borrowing where one was stored', () => {
    const [found] = openTradesOf(lists(chainTrade()))
    const { feesData, oldBorrowing } = withFees(found!, FEES, OLD)
    assert.deepEqual(feesData, {
      realizedTradingFeesCollateral: 1n,
      realizedPnlCollateral: -2n,
      initialAccFundingFeeP: -6n,
      initialAccBorrowingFeeP: 7n,
    })
    assert.deepEqual(oldBorrowing, { accPairFee: 8n, accGroupFee: 9n, block: 10 })
    assert.equal(withFees(found!, FEES, { ...OLD, block: 0 }).oldBorrowing, null)
  })
})

describe('what was found of a trader', () => {
  const [first, second] = openTradesOf(lists(chainTrade(), chainTrade({ index: 1, tradeType: 1 })))
  const { pendingOrder } = requested().args
  const whole = {
    counted: new Map([
      [ALICE, { trades: 2, requests: 1 }],
      [BOB, { trades: 0, requests: 0 }],
    ]),
    positions: [withFees(first!, FEES, OLD)],
    resting: [second!],
    requests: [pendingOrder, { ...pendingOrder, index: 1, isOpen: false }],
  }

  it('has the ended positions apart, about which a request still waits', () => {
    const { trade } = pendingOrder
    const close = { ...pendingOrder, orderType: PendingOrderType.MARKET_CLOSE, trade: { ...trade, index: 9 } }
    const trigger = { ...close, orderType: PendingOrderType.SL_CLOSE }
    const ofOpen = { ...close, trade: { ...trade, index: 0 } }
    assert.deepEqual(endedTradesOf([first!], [close, close, trigger, ofOpen, pendingOrder]), [
      { user: ALICE, index: 9 },
    ])
    const over = { ...first!, trade: { ...first!.trade, index: 9, isOpen: false } }
    const [alices] = byTrader({ ...whole, positions: [...whole.positions, withFees(over, FEES, OLD)] })
    assert.deepEqual(
      [alices!.positions.map(({ trade: { index } }) => index), alices!.ended.map(({ trade: { index } }) => index)],
      [[0], [9]],
    )
    assert.equal(disagreementOf(alices!), undefined)
  })

  it('is proven when the counters agree with it', () => {
    const found = byTrader(whole)
    assert.deepEqual(
      found.map(({ trader, positions, resting, requests }) => [
        trader,
        positions.length,
        resting.length,
        requests.length,
      ]),
      [
        [ALICE, 1, 1, 1],
        [BOB, 0, 0, 0],
      ],
    )
    assert.deepEqual(found.map(disagreementOf), [undefined, undefined])
  })

  it('is not proven when a trade or a request is missing, or is there twice', () => {
    const [missing] = byTrader({ ...whole, resting: [] })
    assert.equal(disagreementOf(missing!), '1 trades were read and 2 are open')
    const [twice] = byTrader({ ...whole, resting: [{ ...second!, trade: first!.trade }] })
    assert.equal(disagreementOf(twice!), '1 trades were read and 2 are open')
    const [unasked] = byTrader({ ...whole, requests: [] })
    assert.equal(disagreementOf(unasked!), '0 requests were read and 1 are open')
  })
})

describe('the calls of a list', () => {
  const counters = fc.array(fc.record({ openCount: fc.nat({ max: 350 }), currentIndex: fc.nat({ max: 7_000 }) }), {
    maxLength: 60,
  })

  it('ask once, in order, for every trader who has something open, and for few enough at once', () => {
    fc.assert(
      fc.property(counters, (made) => {
        const all = made.map((counter, i) => ({ ...counter, trader: address(i.toString(16).padStart(2, '0')) }))
        const open = all.filter(({ openCount }) => openCount > 0)
        const calls = listCallsOf(all)
        const groups = Map.groupBy(calls, ({ traders }) => traders)
        assert.deepEqual(
          [...groups.keys()].flat(),
          open.map(({ trader }) => trader),
        )
        for (const [traders, parts] of groups) {
          const asked = open.filter(({ trader }) => traders.includes(trader))
          const entries = asked.reduce((sum, { openCount }) => sum + openCount, 0)
          assert.deepEqual(
            parts.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, i) => from + i)),
            Array.from({ length: entries }, (_, i) => i),
          )
          for (const { from, to } of parts) assert.ok(to - from < 100)
          const halves = parts.flatMap((call) => halvesOf(call, all))
          assert.deepEqual(
            halves.flatMap((half) => half.traders),
            traders.length === 1 ? [] : traders,
          )
          if (traders.length === 1) continue
          assert.ok(entries <= 100)
          assert.ok(asked.reduce((sum, { currentIndex }) => sum + currentIndex, 0) <= 5_000)
        }
      }),
    )
  })
})
