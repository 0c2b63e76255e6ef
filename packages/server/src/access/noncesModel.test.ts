import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { REPLAY_WINDOW_MS } from './nonceMemory.ts'
import { AGENTS, openTestNonces, type TestNonces } from './testing/testNonces.ts'

/** Times around the edges of the rules: the replay window, the time claims are kept, and a millisecond more or less. */
const edgeMs = fc.constantFrom(0, 1, 14_999, 15_001, 29_999, 30_000, 30_001, 45_000, 45_001, 60_000, 60_001, 75_001)
const skewMs = fc.oneof(
  fc.constantFrom(-REPLAY_WINDOW_MS, 0, REPLAY_WINDOW_MS),
  fc.integer({ min: -30_000, max: 30_000 }),
)

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('read' as const, 'write' as const, 'writeRefused' as const),
      nonce: fc.constantFrom('0', '1', '2'),
      agent: fc.constantFrom(...AGENTS),
      skewMs,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.oneof(edgeMs, fc.nat({ max: 40_000 })) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

describe('nonces against a model', () => {
  it('accept a request exactly when its nonce was not used in the window', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const test = await openTestNonces()
        try {
          await compare(test, steps)
        } finally {
          await test.remove()
        }
      }),
      { numRuns: 60 },
    )
  })

  /** Runs the steps against a model that keeps every nonce for ever, with the timestamp of its last use. */
  async function compare(test: TestNonces, steps: readonly Step[]): Promise<void> {
    const used = new Map<string, number>()
    for (const now of steps) {
      if (now.kind === 'wait') test.nowMs += now.ms
      else if (now.kind === 'restart') await test.restart()
      else {
        const key = `${now.agent} ${now.nonce}`
        const timestampMs = test.nowMs + now.skewMs
        const isFree = (used.get(key) ?? -Infinity) < test.nowMs - REPLAY_WINDOW_MS
        assert.equal(await test[now.kind](now.nonce, timestampMs, now.agent), isFree)
        if (isFree) used.set(key, timestampMs)
      }
    }
  }
})
