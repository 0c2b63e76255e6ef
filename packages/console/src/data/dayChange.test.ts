import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { until } from '@bezel/testkit/until.ts'
import { signal } from '@preact/signals'
import type { Candle } from '@bezel/protocol/wire'
import { createDayChanges, rateOf, type CandleRange } from './dayChange.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** A Tuesday, four minutes after a full hour. */
const NOW_MS = Date.UTC(2026, 5, 2, 14, 4)

const candle = (time: number, open: string, close: string): Candle => ({ time, open, high: open, low: open, close })

/** Changes over answers that the test gives: a function of the range, or an error. */
function createChanges(answer: (range: CandleRange, symbol: string) => readonly Candle[] | Promise<readonly Candle[]>) {
  const state = { nowMs: NOW_MS }
  const mark = signal('110')
  const asked: CandleRange[] = []
  const changes = createDayChanges({
    markOf: () => mark.value,
    now: () => state.nowMs,
    async readCandles(symbol, range) {
      asked.push(range)
      return answer(range, symbol)
    },
  })
  return { changes, asked, mark, state }
}

describe('the change of a day', () => {
  it('is exact, and rounded toward zero', () => {
    assert.equal(rateOf('60000', '60738'), '0.0123')
    assert.equal(rateOf('3', '2'), '-0.333333')
    assert.equal(rateOf('0', '2'), null)
    assert.equal(rateOf('1', '1'), '0')
  })

  it('comes from one candle that ended a day ago, and follows the mark', async () => {
    const { changes, asked, mark } = createChanges(({ from }) => [candle(from, '100', '104')])
    const change = changes.changeOf('BTC/USD')
    assert.equal(change.value, null)
    await until('the change', () => change.value !== null)
    assert.equal(change.value, '0.1')
    const from = Date.UTC(2026, 5, 1, 14, 0)
    assert.deepEqual(asked, [{ interval: '5m', from, to: from }])
    mark.value = '90'
    assert.equal(change.value, '-0.1')
    assert.equal(changes.changeOf('BTC/USD'), change)
  })

  it('is that to the last price before a closure, and to the first price of a young market', async () => {
    const closed = createChanges(({ interval }) =>
      interval === '5m' ? [] : [candle(1, '1', '2'), candle(2, '3', '100')],
    )
    const beforeClosure = closed.changes.changeOf('AAPL/USD')
    await until('the change', () => beforeClosure.value !== null)
    assert.equal(beforeClosure.value, '0.1')
    // Nothing of it is after the moment, so that no candle that still runs is asked for.
    assert.ok(closed.asked.every(({ to }) => to <= NOW_MS - DAY_MS))

    const young = createChanges(({ to }) => (to > NOW_MS - DAY_MS ? [candle(1, '88', '1'), candle(2, '1', '1')] : []))
    const sinceFirst = young.changes.changeOf('NEW/USD')
    await until('the change', () => sinceFirst.value !== null)
    assert.equal(sinceFirst.value, '0.25')
  })

  it('of twelve markets is read three at a time', async () => {
    const open: (() => void)[] = []
    let greatest = 0
    const { changes, asked } = createChanges(async ({ from }) => {
      await new Promise<void>((resolve) => open.push(resolve))
      return [candle(from, '100', '1')]
    })
    const signals = Array.from({ length: 12 }, (_none, place) => changes.changeOf(`M${place}/USD`))
    await until('all changes', () => {
      greatest = Math.max(greatest, open.length)
      for (const answer of open.splice(0)) answer()
      return signals.every(({ value }) => value === '0.1')
    })
    assert.equal(greatest, 3)
    assert.equal(asked.length, 12)
  })

  it('is read again after five minutes, and at once after a failure', async () => {
    let isUp = false
    const { changes, asked, state } = createChanges(({ from }) => {
      if (!isUp) throw new Error('not ready')
      return [candle(from, asked.length === 2 ? '100' : '55', '1')]
    })
    const change = changes.changeOf('BTC/USD')
    await until('the first read', () => asked.length === 1)
    assert.equal(change.value, null)
    isUp = true
    await until('the second read', () => {
      changes.renew()
      return change.value !== null
    })
    changes.renew()
    state.nowMs += 5 * MINUTE_MS - 1
    changes.renew()
    assert.deepEqual([asked.length, change.value], [2, '0.1'])
    state.nowMs += 1
    changes.renew()
    await until('the third read', () => change.value === '1')
    assert.equal(asked.length, 3)
  })

  it('of another chain is not that of this one', async () => {
    const answers: ((open: string) => void)[] = []
    const { changes } = createChanges(async ({ from }) => {
      const open = await new Promise<string>((resolve) => answers.push(resolve))
      return [candle(from, open, '1')]
    })
    const change = changes.changeOf('BTC/USD')
    await until('the first read', () => answers.length === 1)
    changes.clear()
    await until('the second read', () => answers.length === 2)
    answers[1]!('100')
    await until('the change', () => change.value === '0.1')
    answers[0]!('55')
    await new Promise(setImmediate)
    assert.equal(change.value, '0.1')
  })
})
