import assert from 'node:assert/strict'
import { it } from 'node:test'
import { shortDecimal } from './text.ts'

it('shortDecimal cuts toward zero and knows the unlimited', () => {
  assert.equal(shortDecimal('62049.85230737', 2), '62049.85')
  assert.equal(shortDecimal('-1.999', 2), '-1.99')
  assert.equal(shortDecimal('-0.001', 2), '0')
  assert.equal(shortDecimal('5', 2), '5')
  assert.equal(shortDecimal((2n ** 256n - 1n).toString(), 2), 'unlimited')
})
