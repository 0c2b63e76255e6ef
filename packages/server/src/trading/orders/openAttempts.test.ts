import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { attemptOf, endOf, hasLapsed, isUnseen, mayBeOnItsWay, openAttemptsOf } from './openAttempts.ts'
import { anAttempt, hash, requested, T0, VALID_MS } from './testing/orderHistory.ts'

const FIRST = anAttempt(1)
const SECOND = anAttempt(2, { createdAtMs: T0 + 1_000 })

describe('attempts that bring an order to the chain', () => {
  it('end when they expire, or when they are withdrawn before', () => {
    assert.equal(endOf(FIRST), T0 + VALID_MS)
    assert.equal(endOf({ ...FIRST, withdrawnAtMs: T0 + 5 }), T0 + 5)
    assert.equal(endOf({ ...FIRST, withdrawnAtMs: T0 + VALID_MS + 5 }), T0 + VALID_MS)
    assert.equal(hasLapsed(FIRST, T0 + VALID_MS - 1), false)
    assert.equal(hasLapsed(FIRST, T0 + VALID_MS), true)
    assert.equal(hasLapsed({ ...FIRST, withdrawnAtMs: T0 + 5 }, T0), true)
  })

  it('are told apart: those that are over, oldest first, and the one that stands', () => {
    const update = anAttempt(3, { kind: 'update' })
    const none = new Set<never>()
    assert.deepEqual(openAttemptsOf([SECOND, update, FIRST], none, T0), { over: [], standing: SECOND })
    assert.deepEqual(openAttemptsOf([SECOND, FIRST], none, T0 + VALID_MS), { over: [FIRST], standing: SECOND })
    const all = openAttemptsOf([SECOND, FIRST], none, T0 + 2 * VALID_MS)
    assert.deepEqual(all, { over: [FIRST, SECOND], standing: undefined })
    assert.deepEqual(openAttemptsOf([FIRST, SECOND], new Set([SECOND]), T0), { over: [SECOND], standing: FIRST })
  })

  it('may be on their way from the first report to their expiry, whatever became of the report', () => {
    const reported = { ...FIRST, submittedHash: hash(2), submittedAtMs: T0 }
    const expiry = T0 + VALID_MS
    assert.equal(mayBeOnItsWay([FIRST, SECOND], T0), false)
    for (const changes of [{}, { isMismatch: true }, { withdrawnAtMs: T0 + 1 }, { trustedUntilMs: T0 + 1 }]) {
      assert.equal(mayBeOnItsWay([{ ...reported, ...changes }, SECOND], expiry - 1), true)
      assert.equal(mayBeOnItsWay([{ ...reported, ...changes }, SECOND], expiry), false)
    }
    assert.equal(mayBeOnItsWay([{ ...reported, kind: 'cancel' }], T0), false)
  })

  it('are unseen from the end of the trust on', () => {
    assert.equal(isUnseen({ ...FIRST, trustedUntilMs: T0 + 5 }, T0 + 4), false)
    assert.equal(isUnseen({ ...FIRST, trustedUntilMs: T0 + 5 }, T0 + 5), true)
    assert.equal(isUnseen(FIRST, T0 + 10 ** 9), false)
  })

  it('are known by the id in an event, else by the hash that was reported and is not another', () => {
    const event = requested({ block: 1, n: 2 })
    assert.equal(attemptOf(event, [FIRST, SECOND]), SECOND)
    const reported = { ...FIRST, submittedHash: hash(2), submittedAtMs: T0 }
    assert.equal(attemptOf({ ...event, attemptId: null }, [reported]), reported)
    assert.equal(attemptOf(event, [reported, SECOND]), SECOND)
    assert.equal(attemptOf({ ...event, attemptId: null }, [{ ...reported, isMismatch: true }, SECOND]), undefined)
  })
})
