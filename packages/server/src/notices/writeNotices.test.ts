import type { OrderChange, OrderRecord, OrderState } from '../trading/orders/orderModel.ts'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { type OrderId, ORDER_REASONS, ORDER_STATUSES, type Decimal } from '@bezel/protocol'
import { migrate } from '../store/openStore.ts'
import { dismissNotice, listNotices, type Notice } from '../store/noticeStore.ts'
import type { Sql } from '../store/sql.ts'
import { openTestStore, type TestStore } from '../store/testing/testStore.ts'
import { anOrder, MARKET_ORDER, T0 } from '../trading/orders/testing/orderHistory.ts'
import { aChange, aFill, aState, CAUSE, NOW_MS, keeperOrder, POSITION_ID } from './testing/orderChanges.ts'
import type { NoticeStep } from './notice.ts'
import { writeNotices, noticeStepsOf } from './writeNotices.ts'
import fc from 'fast-check'
import { stateIn, stories } from '../trading/orders/testing/orderStory.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'

const DAY_MS = 86_400_000

describe('notices of orders in the store', () => {
  let opened: TestStore
  beforeEach(async () => {
    opened = openTestStore()
    await migrate(opened.store)
  })
  afterEach(() => opened.remove())

  const commit = (orders: readonly OrderChange[], isReorg = false) =>
    opened.store.transaction(TEST_SCOPE, (sql) =>
      writeNotices(sql, { orders, positions: [], cause: { ...CAUSE, isReorg } }),
    )
  const shown = () => listNotices(opened.store.read, MARKET_ORDER.trader, { nowMs: NOW_MS, limit: 200 })
  const filled = aChange(MARKET_ORDER, aState('pending'), aState('filled'))
  const undone = aChange(MARKET_ORDER, aState('filled'), aState('pending'))

  it('are taken back with a block, and keep their id when it is mined again', async () => {
    await commit([filled])
    const [first] = await shown()
    await commit([undone], true)
    assert.deepEqual(await shown(), [])
    const elsewhere = aState('filled', { fill: aFill({ price: '60001', timestamp: NOW_MS }) })
    await commit([aChange(MARKET_ORDER, aState('pending'), elsewhere)])
    const [again, ...others] = await shown()
    assert.deepEqual([again?.id, others.length], [first?.id, 0])
    assert.match(again!.message, /at 60001 /)
  })

  it('stay dismissed through a reorganisation', async () => {
    await commit([filled])
    const [first] = await shown()
    await opened.store.transaction(TEST_SCOPE, (sql) => dismissNotice(sql, MARKET_ORDER.trader, first!.id))
    await commit([undone], true)
    await commit([filled])
    assert.deepEqual(await shown(), [])
  })

  it('show how an order ended that was told and taken back in one commit', async () => {
    await commit([filled, undone])
    assert.deepEqual(await shown(), [])
    await commit([filled, undone, filled])
    assert.equal((await shown()).length, 1)
  })

  it('are not there when the transaction fails', async () => {
    const failing = opened.store.transaction(TEST_SCOPE, async (sql) => {
      await writeNotices(sql, { orders: [filled], positions: [], cause: CAUSE })
      throw new Error('the disk is full')
    })
    await assert.rejects(failing, /the disk is full/)
    assert.deepEqual(await shown(), [])
  })

  it('cost a commit of old blocks no statement at all', async () => {
    const forbidden = (): never => assert.fail('the store was asked')
    const sql: Sql = { engine: 'sqlite', all: forbidden, get: forbidden, run: forbidden, write: forbidden }
    const orders = Array.from({ length: 1_000 }, (_, at) =>
      aChange(anOrder({}, { id: String(at + 1) as OrderId }), aState('pending'), aState('filled')),
    )
    const inAWeekMs = NOW_MS + 7 * 86_400_000
    await writeNotices(sql, { orders, positions: [], cause: { ...CAUSE, nowMs: inAWeekMs } })
    await writeNotices(sql, { orders: [], positions: [], cause: CAUSE })
  })
})

describe('what a commit tells', () => {
  it('is that an order was filled: side, size, market, price and chain', () => {
    const notice = told(MARKET_ORDER, aState('filled'))
    assert.deepEqual(notice, {
      trader: MARKET_ORDER.trader,
      key: { chain: 'arbitrum-sepolia', type: 'order_filled', subject: '7' },
      content: {
        severity: 'info',
        title: 'Order filled',
        message: 'Opened a long of 0.0999 BTC/USD at 60123.5 on arbitrum-sepolia.',
        market: 'BTC/USD',
        orderId: '7',
        positionId: POSITION_ID,
        link: '/v1/arbitrum-sepolia/orders/7',
      },
      createdAtMs: T0,
      expiresAtMs: T0 + 7 * DAY_MS,
    })
  })

  it('names the side of the position that a close or an increase is about', () => {
    const close = anOrder({ kind: 'close', side: 'short', reduceOnly: true })
    assert.match(told(close, aState('filled')).content.message, /^Closed a long of 0\.0999 BTC\/USD at 60123\.5 on /)
    const increase = anOrder({ kind: 'increase', side: 'short' })
    assert.match(told(increase, aState('filled')).content.message, /^Increased a short by 0\.0999 BTC\/USD at 60123\.5/)
  })

  it('rounds numbers for people, and never to nothing', () => {
    const messageOf = (size: string, price: string) =>
      told(MARKET_ORDER, aState('filled', { fill: aFill({ size: size as Decimal, price: price as Decimal }) })).content
        .message
    assert.match(messageOf('0.029999999877381197', '60887.8155075288'), /of 0\.03 BTC\/USD at 60887\.815508 on /)
    assert.match(
      messageOf('0.000000000123456789', '0.0000001234567'),
      /of 0\.000000000123457 BTC\/USD at 0\.000000123457 /,
    )
    assert.match(messageOf('1234567.000000004', '60000'), /of 1234567 BTC\/USD at 60000 /)
    const close = anOrder({ kind: 'close', side: 'short', size: '0.029999999877381197' as Decimal })
    const rejected = aState('rejected', { size: '0.029999999877381197' as Decimal })
    assert.match(told(close, rejected).content.message, / to close a long of 0\.03 BTC\/USD on /)
  })

  it('is a warning when only a part was filled', () => {
    const { severity, title, message } = told(MARKET_ORDER, aState('filled', { reason: 'SLIPPAGE' })).content
    assert.deepEqual([severity, title], ['warning', 'Order filled in part'])
    assert.match(message, /A part of the order was refused: the price moved by more than the 1 % of slippage/)
  })

  it('gives each reason of a rejection in words of its own', () => {
    const messages = ORDER_REASONS.map((reason) => {
      const { content, key } = told(MARKET_ORDER, aState('rejected', { reason }))
      assert.deepEqual([key.type, content.severity, content.title], ['order_rejected', 'warning', 'Order rejected'])
      assert.match(
        content.message,
        /^The market order to open a long of 0\.1 BTC\/USD on arbitrum-sepolia was rejected: [a-z].{12,}\. Nothing was traded\.$/,
      )
      assert.ok(!content.message.includes(reason), `${reason} is a code, not words`)
      return content.message
    })
    assert.equal(new Set(messages).size, ORDER_REASONS.length)
    assert.match(told(MARKET_ORDER, aState('rejected')).content.message, /gave no reason/)
  })

  it('says what to do about a timeout', () => {
    const opening = told(MARKET_ORDER, aState('timed_out'))
    assert.deepEqual([opening.key.type, opening.content.severity], ['order_timed_out', 'warning'])
    assert.match(
      opening.content.message,
      /collateral is locked.*call DELETE \/v1\/arbitrum-sepolia\/orders\/7 and send/,
    )
    assert.equal(opening.createdAtMs, NOW_MS, 'a timeout has no block')
    const legs = [{ positionId: POSITION_ID, tradeIndex: 0, size: '0.1' as Decimal }]
    const closing = told(anOrder({ kind: 'close', side: 'short', legs }), aState('timed_out')).content
    assert.match(closing.message, /to close a long of 0\.1 .*The position stays open\..*DELETE/)
    assert.equal(closing.positionId, POSITION_ID)
  })

  it('is one notice for what keepers close, and not that an order was filled', () => {
    const kinds = [
      ['liq', 'position_liquidated', 'critical', /was liquidated at 60123\.5\.$/],
      ['sl', 'stop_loss_hit', 'warning', /was closed by its stop loss at 60123\.5\.$/],
      ['tp', 'take_profit_hit', 'info', /was closed by its take profit at 60123\.5\.$/],
    ] as const
    for (const [kind, type, severity, text] of kinds) {
      const steps = stepsOf(keeperOrder(kind), undefined, aState('filled'))
      assert.equal(steps.length, 1)
      const { tell } = steps[0] as { tell: Notice }
      assert.deepEqual([tell.key.type, tell.content.severity], [type, severity])
      assert.match(tell.content.message, text)
      assert.match(tell.content.message, /^The long of 0\.0999 BTC\/USD on arbitrum-sepolia /)
      assert.equal(tell.content.positionId, POSITION_ID)
    }
  })

  it('is nothing for an order that is under way, or that its trader ended', () => {
    const quiet = ORDER_STATUSES.filter((status) => !['filled', 'rejected', 'timed_out'].includes(status))
    for (const status of quiet) assert.deepEqual(stepsOf(MARKET_ORDER, aState('prepared'), aState(status)), [], status)
    assert.deepEqual(stepsOf(MARKET_ORDER, undefined, undefined), [])
  })

  it('is nothing that was told already', () => {
    const filled = aState('filled')
    assert.deepEqual(stepsOf(MARKET_ORDER, filled, { ...filled, updatedAtMs: T0 + 1 }), [])
  })

  it('is told again under the same key when its numbers changed', () => {
    const steps = stepsOf(MARKET_ORDER, aState('filled'), aState('filled', { fill: aFill({ price: '60200' }) }))
    assert.equal(steps.length, 1)
    assert.match((steps[0] as { tell: Notice }).tell.content.message, /at 60200 /)
  })

  it('leaves out what is older than a day', () => {
    const at = (nowMs: number) => stepsOf(MARKET_ORDER, aState('pending'), aState('filled'), nowMs).length
    assert.deepEqual([at(T0 + DAY_MS), at(T0 + DAY_MS + 1)], [1, 0])
    const late = aState('rejected', { reason: 'PAUSED', updatedAtMs: T0 - 3 * DAY_MS })
    assert.deepEqual(stepsOf(MARKET_ORDER, aState('pending'), late), [])
  })

  it('is not from the future, wherever the clock of the chain stands', () => {
    const ahead = aState('filled', { fill: aFill({ timestamp: NOW_MS + 5_000 }) })
    assert.equal(told(MARKET_ORDER, ahead).createdAtMs, NOW_MS)
  })

  it('takes back what is no longer so', () => {
    const key = (type: string) => ({ chain: 'arbitrum-sepolia', type, subject: '7' })
    assert.deepEqual(stepsOf(MARKET_ORDER, aState('filled'), aState('pending')), [{ withdraw: key('order_filled') }])
    assert.deepEqual(stepsOf(keeperOrder('liq'), aState('filled'), undefined), [
      { withdraw: key('position_liquidated') },
    ])
    assert.deepEqual(stepsOf(MARKET_ORDER, aState('timed_out'), aState('canceled')), [
      { withdraw: key('order_timed_out') },
    ])
    const [first, second] = stepsOf(MARKET_ORDER, aState('timed_out'), aState('filled'))
    assert.deepEqual(first, { withdraw: key('order_timed_out') })
    assert.deepEqual((second as { tell: Notice }).tell.key, key('order_filled'))
  })

  it('takes a timeout back for as long as it may be shown, and asks the store for nothing older', () => {
    const at = (days: number) =>
      stepsOf(MARKET_ORDER, aState('timed_out'), aState('canceled'), T0 + days * DAY_MS).length
    assert.deepEqual([at(3), at(30), at(31)], [1, 1, 0])
  })

  it('keeps the order of the changes', () => {
    const [a, b] = [anOrder({}, { id: '1' as OrderId }), anOrder({}, { id: '2' as OrderId })]
    const orders = [
      aChange(a, aState('pending'), aState('filled')),
      aChange(b, aState('pending'), aState('filled')),
      aChange(a, aState('filled'), aState('pending')),
    ]
    const subjects = noticeStepsOf({ orders, cause: CAUSE }).map((step) =>
      'tell' in step ? `+${step.tell.key.subject}` : `-${step.withdraw.subject}`,
    )
    assert.deepEqual(subjects, ['+1', '+2', '-1'])
  })

  it('leaves exactly the notice of how an order stands, whatever its story', () => {
    const story = fc.property(stories(), (of) => {
      const shown = new Set<string>()
      let before: OrderState | undefined
      for (const chapter of of.chapters) {
        const after = stateIn(of, chapter)
        const steps = noticeStepsOf({
          orders: [aChange(of.record, before, after)],
          cause: { ...CAUSE, nowMs: chapter.clock.nowMs },
        })
        steps.forEach((step) => show(shown, step))
        before = after
        const expected = { filled: 'order_filled', rejected: 'order_rejected', timed_out: 'order_timed_out' }
        const type = expected[after?.status as keyof typeof expected]
        assert.deepEqual([...shown], type === undefined ? [] : [type])
      }
    })
    fc.assert(story, { numRuns: 200 })
  })
})

function stepsOf(record: OrderRecord, before: OrderState | undefined, after: OrderState | undefined, nowMs = NOW_MS) {
  return noticeStepsOf({ orders: [aChange(record, before, after)], cause: { ...CAUSE, nowMs } })
}

function told(record: OrderRecord, after: OrderState): Notice {
  const [step, ...others] = stepsOf(record, aState('pending'), after)
  assert.deepEqual(others, [])
  assert.ok(step !== undefined && 'tell' in step)
  return step.tell
}

function show(shown: Set<string>, step: NoticeStep): void {
  if ('tell' in step) shown.add(step.tell.key.type)
  else shown.delete(step.withdraw.type)
}
