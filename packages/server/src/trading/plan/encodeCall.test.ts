import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Hex } from '@bezel/protocol'
import fc from 'fast-check'
import { encodeCall, wrapCalls } from './encodeCall.ts'
import { AGENT, ATTEMPT, decoded, refusalOf, TRADER } from './testing/fixtures.ts'

const CALL = encodeCall('cancelOpenOrder', [5])

const hexOf = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}` as Hex

describe('wrapped calls', () => {
  it('of the trader itself are sent as they are, the id behind them', () => {
    const { inner, data } = wrapCalls({ calls: [CALL], trader: TRADER, agent: TRADER, attemptId: ATTEMPT })
    assert.equal(inner, CALL)
    assert.equal(data, `${CALL}0123456789abcdef`)
  })

  it('come apart into what they were made of', () => {
    const call = fc.uint8Array({ minLength: 4, maxLength: 200 }).map(hexOf)
    const attempt = fc.uint8Array({ minLength: 8, maxLength: 8 }).map(hexOf)
    fc.assert(
      fc.property(
        fc.array(call, { minLength: 1, maxLength: 20 }),
        attempt,
        fc.constantFrom(AGENT, TRADER),
        (calls, attemptId, agent) => {
          const { inner, data } = wrapCalls({ calls, trader: TRADER, agent, attemptId })
          assert.equal(data.slice(-16), attemptId.slice(2))
          const sent = data.slice(0, -16) as Hex
          if (agent === TRADER) assert.equal(sent, inner)
          else assert.deepEqual(decoded(sent), { name: 'delegatedTradingAction', args: [TRADER, inner] })
          if (calls.length === 1) assert.equal(inner, calls[0])
          else assert.deepEqual(decoded(inner), { name: 'multicall', args: [calls] })
        },
      ),
    )
  })

  it('are at most twenty, and at least one', () => {
    const wrap = (count: number) =>
      wrapCalls({ calls: Array.from({ length: count }, () => CALL), trader: TRADER, agent: AGENT, attemptId: ATTEMPT })
    wrap(20)
    refusalOf(() => wrap(21), 'UNSUPPORTED')
    assert.throws(() => wrap(0), RangeError)
  })
})
