import { StoreUnavailableError } from '../../ground/unavailable.ts'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import fc from 'fast-check'
import { createFacadeNonces, isInNonceWindow, FACADE_NONCE_KEPT_MS, NONCE_WINDOW_MS } from './facadeNonces.ts'
import { openTestFacadeNonces, SIGNER, SIGNERS, START_MS, type TestFacadeNonces } from './testing/testFacadeNonces.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'

describe('nonces of the facade', () => {
  let test: TestFacadeNonces

  beforeEach(async () => {
    test = await openTestFacadeNonces()
  })
  afterEach(() => test.remove())

  it('are accepted once, whoever asks second and how', async () => {
    assert.equal(await test.write(START_MS), true)
    assert.equal(await test.write(START_MS), false)
    assert.equal(await test.use(START_MS), false)
    assert.equal(test.nonces.take(SIGNER, START_MS), false)
    assert.equal(await test.use(START_MS + 1), true)
    assert.equal(await test.use(START_MS + 1), false)
    assert.equal(await test.write(START_MS + 1), false)
    assert.equal(test.nonces.size, 2)
  })

  it("are each signer's own", async () => {
    for (const signer of SIGNERS) assert.equal(await test.use(START_MS, signer), true)
    for (const signer of SIGNERS) assert.equal(await test.use(START_MS, signer), false)
  })

  it('are taken out of order', async () => {
    for (const nonce of [5, 3, 9, -2_000, 4]) assert.equal(await test.use(START_MS + nonce), true)
    for (const nonce of [9, 4, 5, 3, -2_000]) assert.equal(await test.use(START_MS + nonce), false)
  })

  it('must be within 60 s of the clock, to the millisecond and on both sides', async () => {
    for (const side of [-1, 1]) {
      assert.equal(await test.use(START_MS + side * (NONCE_WINDOW_MS + 1)), false)
      assert.equal(await test.use(START_MS + side * NONCE_WINDOW_MS), true)
      assert.equal(isInNonceWindow(START_MS + side * NONCE_WINDOW_MS, START_MS), true)
      assert.equal(isInNonceWindow(START_MS + side * (NONCE_WINDOW_MS + 1), START_MS), false)
    }
    for (const nonce of [0, 1, Number.MAX_SAFE_INTEGER]) assert.equal(await test.use(nonce), false)
    assert.equal(await test.stored(), 2)
  })

  it('may wait a little between the check and the transaction, not for ever', async () => {
    const claim = (nonce: number): Promise<boolean> =>
      test.opened.store.transaction(TEST_SCOPE, (sql) => test.nonces.claim(sql, SIGNER, nonce))
    test.nowMs = START_MS + FACADE_NONCE_KEPT_MS
    assert.equal(await claim(START_MS), true)
    assert.equal(await claim(START_MS - 1), false)
    assert.equal(await claim(test.nowMs + FACADE_NONCE_KEPT_MS + 1), false)
  })

  it('stay used while a clock in the future lets them in', async () => {
    const nonce = START_MS + NONCE_WINDOW_MS
    assert.equal(await test.use(nonce), true)
    for (const lateMs of [1, 15_000, 60_000, 2 * NONCE_WINDOW_MS]) {
      test.nowMs = START_MS + lateMs
      assert.equal(await test.use(nonce), false, String(lateMs))
    }
  })

  it('are known after a restart, and after a second one', async () => {
    assert.equal(await test.write(START_MS), true)
    assert.equal(await test.use(START_MS + 1), true)
    for (let i = 0; i < 2; i++) {
      await test.restart()
      assert.equal(test.nonces.size, 2)
      assert.equal(await test.write(START_MS), false)
      assert.equal(await test.use(START_MS + 1), false)
    }
    assert.equal(await test.use(START_MS + 2), true)
  })

  it('are not given back when the write is rolled back', async () => {
    assert.equal(await test.writeRefused(START_MS), true)
    assert.equal(await test.stored(), 0)
    assert.equal(await test.write(START_MS), false)
  })

  it('are refused in the store when another process used them', async () => {
    const other = await createFacadeNonces({ store: test.opened.store, now: () => test.nowMs })
    assert.equal(await other.use(SIGNER, START_MS), true)
    assert.equal(test.nonces.take(SIGNER, START_MS), true)
    assert.equal(
      await test.opened.store.transaction(TEST_SCOPE, (sql) => test.nonces.claim(sql, SIGNER, START_MS)),
      false,
    )
    assert.equal(await test.use(START_MS), false)
  })

  it('let exactly one of many at once win', async () => {
    const other = await createFacadeNonces({ store: test.opened.store, now: () => test.nowMs })
    for (let round = 0; round < 10; round++) {
      const nonce = START_MS + round
      const all = Array.from({ length: 30 }, (_, i) => {
        if (i % 3 === 0) return other.use(SIGNER, nonce)
        return i % 3 === 1 ? test.use(nonce) : test.write(nonce)
      })
      assert.equal((await Promise.all(all)).filter(Boolean).length, 1)
    }
  })

  it('are let go of in memory and store when they have expired, and the store shrinks after a burst', async () => {
    for (let i = 0; i < 300; i++) {
      test.nowMs += 1_000
      assert.equal(await test.use(test.nowMs), true)
    }
    assert.ok(test.nonces.size <= 75 + 6, String(test.nonces.size))
    // A nonce goes with the second prune after its time, and prunes come every 10 s.
    assert.ok((await test.stored()) <= 75 + 21, String(await test.stored()))
    await test.opened.store.transaction(TEST_SCOPE, async (sql) => {
      for (let i = 0; i < 12_000; i++) await test.nonces.claim(sql, SIGNER, test.nowMs + 1 + i)
    })
    for (let i = 0; i < 5; i++) {
      test.nowMs += 200_000
      assert.equal(await test.use(test.nowMs), true)
    }
    assert.ok((await test.stored()) <= 3, String(await test.stored()))
  })

  it('that were let go of stay refused when the clock is set back, also after a restart', async () => {
    assert.equal(await test.use(START_MS), true)
    for (let i = 0; i < 5; i++) {
      test.nowMs += 60_000
      assert.equal(await test.use(test.nowMs), true)
    }
    test.nowMs = START_MS + 1_000
    assert.equal(await test.use(START_MS), false)
    await test.restart()
    assert.equal(await test.use(START_MS), false)
    const claim = test.opened.store.transaction(TEST_SCOPE, (sql) => test.nonces.claim(sql, SIGNER, START_MS))
    assert.equal(await claim, false)
  })

  it('against a model: accepted exactly when in the window and never used before', async () => {
    const step = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          kind: fc.constantFrom('use' as const, 'write' as const),
          signer: fc.constantFrom(...SIGNERS),
          aheadMs: fc.oneof(fc.constantFrom(-60_001, -60_000, 0, 60_000, 60_001), fc.integer({ min: -3, max: 3 })),
        }),
      },
      {
        weight: 3,
        arbitrary: fc.record({
          kind: fc.constant('wait' as const),
          ms: fc.constantFrom(1, 2, 9_999, 60_000, 75_001, 300_000),
        }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const modelled = await openTestFacadeNonces()
        const used = new Set<string>()
        for (const now of steps) {
          if (now.kind === 'wait') modelled.nowMs += now.ms
          else if (now.kind === 'restart') await modelled.restart()
          else {
            const nonce = modelled.nowMs + now.aheadMs
            const key = `${now.signer} ${nonce}`
            const isFree = Math.abs(now.aheadMs) <= NONCE_WINDOW_MS && !used.has(key)
            assert.equal(await modelled[now.kind](nonce, now.signer), isFree)
            if (isFree) used.add(key)
          }
        }
        await modelled.remove()
      }),
      { numRuns: 60 },
    )
  })
})

describe('nonces of the facade at their maximum', () => {
  it('refuse further envelopes instead of forgetting, until some have expired', async () => {
    const test = await openTestFacadeNonces(3)
    for (const nonce of [1, 2, 3]) assert.equal(test.nonces.take(SIGNER, START_MS + nonce), true)
    assert.throws(() => test.nonces.take(SIGNER, START_MS + 4), StoreUnavailableError)
    assert.equal(test.nonces.take(SIGNER, START_MS + 1), false)
    test.nowMs += FACADE_NONCE_KEPT_MS + 6_000
    assert.equal(test.nonces.take(SIGNER, test.nowMs), true)
    await test.remove()
  })
})
