import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AGENTS, ORACLES } from '../../packages/devnet/src/deploy/accounts.ts'
import { sharedWorld } from './sharedWorld.ts'
import {
  ALICE,
  assertReverts,
  BTC,
  eventNames,
  flatten,
  LINK,
  placeOrder,
  requestOpen,
  trigger,
  TRIGGER,
  usd,
} from './trading.ts'
import { onlyEvent, packAnswer, oracleRequestId, type Candle, type Outcome } from './world.ts'
import type { OrderId } from './trading.ts'

/** Settings of arbitrum-sepolia: two answers of three oracles, each within 1 % of the median. */
const world = sharedWorld(async (prepared) => {
  await flatten(prepared, BTC)
  await flatten(prepared, LINK)
})

/** Answers a request as one oracle. */
function fulfill(oracle: number, orderId: OrderId, prices: Candle | bigint): Promise<Outcome> {
  const { account } = ORACLES[oracle]!
  return world().send(account, 'fulfill', [oracleRequestId(orderId, account.address), packAnswer(prices)])
}

const requestLink = async () => (await requestOpen(world(), ALICE, { pairIndex: LINK }, 5_000)).orderId
const isOpen = async (orderId: OrderId) => (await world().read('getPendingOrder', [orderId])).isOpen

describe('an oracle answer', () => {
  it('waits for the quorum; the median of two is their mean, truncated', async () => {
    const orderId = await requestLink()
    const first = await fulfill(0, orderId, usd(60_000))
    assert.deepEqual(eventNames(first), ['PriceReceived'])
    const received = onlyEvent(first, 'PriceReceived')
    assert.deepEqual([received.minAnswersReached, received.usedInMedian], [false, false])
    assert.equal((await world().read('getPriceAggregatorOrderAnswers', [orderId])).length, 1)
    const second = await fulfill(1, orderId, usd(60_100) + 1n)
    assert.equal(onlyEvent(second, 'MarketExecuted').oraclePrice, usd(60_050))
    assert.deepEqual(await world().read('getPriceAggregatorOrderAnswers', [orderId]), [])
    const { a, orderType } = onlyEvent(second, 'TradingCallbackExecuted')
    assert.deepEqual([a.current, a.orderId, orderType], [usd(60_050), orderId, 0])
  })

  it('that disagrees is dropped: two answers further apart than the deviation wait for a third', async () => {
    const orderId = await requestLink()
    await fulfill(0, orderId, usd(60_000))
    const second = await fulfill(1, orderId, usd(70_000))
    const { minAnswersReached, minFilteredAnswersReached } = onlyEvent(second, 'PriceReceived')
    assert.deepEqual([minAnswersReached, minFilteredAnswersReached], [true, false])
    assert.equal(await isOpen(orderId), true)
    const third = await fulfill(2, orderId, usd(60_010))
    assert.equal(onlyEvent(third, 'MarketExecuted').oraclePrice, usd(60_005))
    const { unfilteredAnswers, filteredAnswers } = onlyEvent(third, 'PriceReceived')
    assert.deepEqual([unfilteredAnswers.length, filteredAnswers.length], [3, 2])
  })

  it('exactly at the deviation still counts, one unit further does not', async () => {
    // The median of two is their mean, so each lies half their distance away.
    const near = await requestLink()
    await fulfill(0, near, 59_400n * 10n ** 10n)
    onlyEvent(await fulfill(1, near, 60_600n * 10n ** 10n), 'MarketExecuted')
    const far = await requestLink()
    await fulfill(0, far, 59_400n * 10n ** 10n - 2n)
    assert.deepEqual(eventNames(await fulfill(1, far, 60_600n * 10n ** 10n)), ['PriceReceived'])
  })

  it('that comes after the execution is harmless', async () => {
    const orderId = await requestLink()
    await world().answer(orderId, usd(60_000))
    const late = await fulfill(2, orderId, usd(1))
    assert.equal(late.ok, true)
    assert.deepEqual(late.events, [])
    await assertReverts(fulfill(2, orderId, usd(1)), 'SourceNotOracleOfRequest')
  })

  it('must come from the oracle that was asked, once', async () => {
    const orderId = await requestLink()
    const id = oracleRequestId(orderId, ORACLES[0]!.account.address)
    const { account: other } = ORACLES[1]!
    await assertReverts(world().send(other, 'fulfill', [id, packAnswer(usd(1))]), 'SourceNotOracleOfRequest')
    const stranger = AGENTS[0]!.account
    await assertReverts(world().send(stranger, 'fulfill', [id, packAnswer(usd(1))]), 'SourceNotOracleOfRequest')
    await fulfill(0, orderId, usd(60_000))
    await assertReverts(fulfill(0, orderId, usd(60_000)), 'SourceNotOracleOfRequest')
    assert.equal(await isOpen(orderId), true, 'one oracle alone is no quorum')
  })

  it('must have a price, and a candle that contains its open', async () => {
    const market = await requestLink()
    await assertReverts(fulfill(0, market, 0n), 'PriceZero')
    const index = await placeOrder(world(), ALICE, { pairIndex: LINK })
    const orderId = await trigger(world(), TRIGGER.limit, ALICE.address, index)
    const good = { open: usd(60_000), high: usd(60_001), low: usd(59_999), current: usd(60_000) }
    for (const bad of [{ open: 0n }, { low: 0n }, { low: usd(60_001) }, { high: usd(59_999) }]) {
      await assertReverts(fulfill(0, orderId, { ...good, ...bad }), 'InvalidCandle')
    }
    await assertReverts(fulfill(0, orderId, { ...good, current: 0n }), 'PriceZero')
    await fulfill(0, orderId, good)
  })

  it('of a candle is the median of each of its four prices', async () => {
    const index = await placeOrder(world(), ALICE, { pairIndex: LINK })
    const orderId = await trigger(world(), TRIGGER.limit, ALICE.address, index)
    await fulfill(0, orderId, { open: usd(60_100), high: usd(60_300), low: usd(60_050), current: usd(60_200) })
    const last = await fulfill(1, orderId, {
      open: usd(60_140),
      high: usd(60_500),
      low: usd(59_050),
      current: usd(60_400),
    })
    const { a } = onlyEvent(last, 'TradingCallbackExecuted')
    assert.deepEqual([a.open, a.high, a.low, a.current], [usd(60_120), usd(60_400), usd(59_550), usd(60_300)])
  })

  it('of an unlikely price does no harm: 1 unit, and the largest number of 56 bits', async () => {
    for (const price of [1n, 2n ** 56n - 1n]) {
      const orderId = await requestLink()
      onlyEvent(await world().answer(orderId, price), 'MarketOpenCanceled')
    }
  })
})

describe('a price request', () => {
  it('asks every oracle and says for whom', async () => {
    const { orderId, outcome } = await requestOpen(world(), ALICE, { pairIndex: LINK })
    const requested = onlyEvent(outcome, 'PriceRequested')
    assert.deepEqual([requested.pairIndex, requested.nodesCount, requested.isLookback], [BigInt(LINK), 3n, false])
    assert.equal(requested.fromBlock, outcome.blockNumber)
    assert.equal(requested.positionSizeCollateral, 1_000_000_000n)
    assert.equal(requested.pendingOrder.index, orderId.index)
    assert.deepEqual(
      await world().read('getOracles', []),
      ORACLES.slice(0, 3).map(({ account }) => account.address),
    )
    for (const { account } of ORACLES.slice(0, 3)) {
      const order = await world().read('getPriceAggregatorOrder', [oracleRequestId(orderId, account.address)])
      assert.deepEqual([order.user, order.index, order.pairIndex], [ALICE.address, orderId.index, LINK])
    }
  })
})
