import type { Fill } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { sumFills } from './sumFills.ts'
import { aFill, hash } from './testing/orderHistory.ts'

describe('the fill of several legs', () => {
  it('of one leg is its own', () => {
    const fill = aFill()
    assert.deepEqual(sumFills([fill]), fill)
  })

  it('has sums, a weighted price, the first position and the last execution', () => {
    const first = aFill({
      price: '60000',
      size: '0.1',
      collateral: '600',
      feeCollateral: '3.6',
      txHash: hash(2),
      timestamp: 20,
      positionId: '11',
    })
    const second = aFill({
      price: '63000.5',
      size: '0.05',
      collateral: '315.25',
      feeCollateral: '1.8',
      txHash: hash(1),
      timestamp: 10,
      positionId: '12',
    })
    assert.deepEqual(sumFills([first, second]), {
      price: '61000.1666666666',
      size: '0.15',
      collateral: '915.25',
      feeCollateral: '5.4',
      txHash: hash(2),
      timestamp: 20,
      positionId: '11',
    })
  })

  it('of nothing at all has a price nevertheless', () => {
    assert.equal(sumFills([aFill({ price: '5', size: '0' }), aFill({ price: '6', size: '0' })]).price, '5')
  })

  it('has a price between those of its legs, and sums that do not depend on their order', () => {
    const amounts = fc
      .integer({ min: 1, max: 10 ** 9 })
      .map((cents) => `${Math.floor(cents / 100)}.${(cents % 100) + 1}1`)
    const legs = fc.array(fc.record({ price: amounts, size: amounts, collateral: amounts }), {
      minLength: 1,
      maxLength: 20,
    })
    fc.assert(
      fc.property(legs, (given) => {
        const fills = given.map((fields) => aFill(fields)) as [Fill, ...Fill[]]
        const { price, size, collateral } = sumFills(fills)
        const reversed = sumFills(fills.toReversed() as [Fill, ...Fill[]])
        assert.deepEqual(
          { price, size, collateral },
          { price: reversed.price, size: reversed.size, collateral: reversed.collateral },
        )
        const prices = fills.map((fill) => Number(fill.price))
        assert.ok(Number(price) >= Math.min(...prices) - 1e-6 && Number(price) <= Math.max(...prices) + 1e-6)
      }),
    )
  })
})
