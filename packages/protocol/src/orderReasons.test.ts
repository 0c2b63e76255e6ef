import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ORDER_REASON_TEXTS } from './orderReasons.ts'
import { ORDER_REASONS } from './schemas/order.ts'

describe('ORDER_REASON_TEXTS', () => {
  it('has a cause and a remedy for each reason, to stand inside a sentence', () => {
    assert.deepEqual(Object.keys(ORDER_REASON_TEXTS).toSorted(), ORDER_REASONS.toSorted())
    for (const [reason, texts] of Object.entries(ORDER_REASON_TEXTS)) {
      for (const text of [texts.cause, texts.remedy]) {
        assert.match(text, /^[a-z][^.]{10,}[^.\s]$/, `${reason}: ${text}`)
        assert.ok(!text.includes(reason), `${reason}: ${text}`)
      }
      assert.notEqual(texts.cause, texts.remedy, reason)
    }
  })
})
