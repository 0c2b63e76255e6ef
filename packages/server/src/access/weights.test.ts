import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ApiError } from '@bezel/protocol'
import fc from 'fast-check'
import { createRowMeter, INFO_PAGE, listWeight, pagesBegun } from './weights.ts'

describe('the weight of a list', () => {
  it('is 1 per hundred begun, and 1 for a limit that is refused', () => {
    for (const [limit, weight] of [
      [undefined, 1],
      ['1', 1],
      ['100', 1],
      ['101', 2],
      ['500', 5],
      ['', 1],
      ['-5', 1],
      ['1e9', 1],
      ['99999', 1],
      [['500', '500'], 1],
    ] as const) {
      assert.equal(listWeight({ limit }), weight, String(limit))
    }
  })
})

describe('the meter of rows', () => {
  it('has charged all pages that the rows begin, in whatever portions they come', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 700 })), (portions) => {
        let charged = 1
        const meter = createRowMeter((weight) => {
          assert.ok(weight > 0)
          charged += weight
        })
        let rows = 0
        for (const portion of portions) {
          meter.add(portion)
          rows += portion
          assert.equal(charged, pagesBegun(rows, INFO_PAGE))
        }
      }),
    )
  })

  it('passes a refusal on', () => {
    const refusal = new ApiError('RATE_LIMITED', 'no')
    const meter = createRowMeter(() => {
      throw refusal
    })
    meter.add(INFO_PAGE)
    assert.throws(() => meter.add(1), refusal)
  })
})
