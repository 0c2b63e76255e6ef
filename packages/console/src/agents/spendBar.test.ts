import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { probeOrder, spendBarOf } from './spendBar.ts'

describe('spendBarOf', () => {
  const bar = (spentUsd: string, dailySpendCapUsd: string | null) => spendBarOf({ spentUsd, dailySpendCapUsd })

  it('has no bar without a cap', () => {
    assert.equal(bar('5', null), null)
  })

  it('says how much is left, exactly', () => {
    assert.deepEqual(bar('0', '1000'), { share: 0, percent: 0, leftUsd: '1000' })
    assert.deepEqual(bar('250.000000000000000001', '1000'), {
      share: 0.25,
      percent: 25,
      leftUsd: '749.999999999999999999',
    })
  })

  it('is full only when nothing is left', () => {
    assert.deepEqual(bar('999.99', '1000'), { share: 0.99999, percent: 99, leftUsd: '0.01' })
    assert.deepEqual(bar('1000', '1000'), { share: 1, percent: 100, leftUsd: '0' })
  })

  it('stays full when the cap was lowered below what was spent, and of a cap of nothing', () => {
    assert.deepEqual(bar('1500', '1000'), { share: 1, percent: 100, leftUsd: '0' })
    assert.equal(bar('0', '0')?.percent, 100)
  })
})

describe('probeOrder', () => {
  const market = { symbol: 'BTC/USD', minPositionUsd: '1500', minLeverage: '2', pricePrecision: 1, sizePrecision: 5 }

  it('is above the smallest position of the market and within its precision', () => {
    const order = probeOrder(market, '65000.5')
    assert.ok(order)
    assert.equal(order.price, '64350.5')
    assert.ok(Number(order.size) * Number(order.price) > 1500)
    assert.match(order.size, /^0\.\d{1,5}$/)
    assert.equal(order.leverage, '2')
  })

  it('has a size where a unit costs more than the smallest position', () => {
    const order = probeOrder({ ...market, sizePrecision: 0 }, '65000')
    assert.equal(order?.size, '1')
  })

  it('is not made without a price', () => {
    assert.equal(probeOrder(market, '0'), undefined)
  })
})
