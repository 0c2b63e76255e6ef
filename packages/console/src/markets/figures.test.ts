import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { actionWords, compactUsd, hourlyRate } from './figures.ts'

describe('figures of markets', () => {
  it('have few digits, with sign and unit', () => {
    assert.match(compactUsd('12345678.9'), /12[.,]3/)
    assert.match(compactUsd('0'), /^\D*0\D*$/)
    assert.match(hourlyRate('0.0012'), /^\+0[.,]0012\s%$/)
    assert.match(hourlyRate('-0.5'), /^\u22120[.,]5000\s%$/)
    assert.match(hourlyRate('0'), /^0[.,]0000\s%$/)
  })

  it('name every kind of execution in words', () => {
    assert.equal(actionWords('TradeClosedLIQ'), 'liquidated')
    assert.equal(actionWords('SomethingNew'), 'traded')
  })
})
