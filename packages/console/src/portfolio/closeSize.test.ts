import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { closeOfSize, percentOfSize, sizeOfPercent } from './closeSize.ts'

const MARKET = { sizePrecision: 4, base: 'BTC' }
const POSITION = { size: '0.01234567' }

describe('the size of a close', () => {
  it('is a percentage rounded down to what the market takes, and all of it to the last digit', () => {
    assert.equal(sizeOfPercent(POSITION, '50', MARKET), '0.0061')
    assert.equal(sizeOfPercent(POSITION, '99', MARKET), '0.0122')
    assert.equal(sizeOfPercent(POSITION, '100', MARKET), '0.01234567')
    assert.equal(sizeOfPercent(POSITION, '140', MARKET), '0.01234567')
    assert.equal(sizeOfPercent(POSITION, '0', MARKET), '0')
    assert.equal(sizeOfPercent(POSITION, 'half', MARKET), '0')
  })

  it('has a share of the position', () => {
    assert.equal(percentOfSize({ size: '0.02' }, '0.01'), 50)
    assert.equal(percentOfSize({ size: '0.02' }, '0.05'), 100)
    assert.equal(percentOfSize({ size: '0.02' }, ''), 0)
    assert.equal(percentOfSize({ size: '0' }, '1'), 0)
  })

  it('names no size when all of it closes, and says what is left', () => {
    assert.deepEqual(closeOfSize(POSITION, '0.01234567', MARKET), { request: {}, left: '0', problem: null })
    assert.deepEqual(closeOfSize(POSITION, '0.0100', MARKET), {
      request: { size: '0.01' },
      left: '0.00234567',
      problem: null,
    })
  })

  it('is refused with a sentence when it is nothing, too much or too fine', () => {
    const problemOf = (typed: string): string | null => closeOfSize(POSITION, typed, MARKET).problem
    assert.match(problemOf('') ?? '', /above 0/)
    assert.match(problemOf('0.') ?? '', /above 0/)
    assert.match(problemOf('1') ?? '', /at most that/)
    assert.match(problemOf('0.00001') ?? '', /at most 4 decimals/)
  })
})
