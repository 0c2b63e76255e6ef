import { deepEqual } from 'node:assert/strict'
import { it } from 'node:test'
import { createMessageRate } from './socketKind.ts'

it('allows so many in a second, and as many in the next', () => {
  const rate = createMessageRate(2)
  deepEqual(
    [0, 10, 999, 1_000, 1_001, 1_002, 2_500].map((nowMs) => rate.isWithin(nowMs)),
    [true, true, false, true, true, false, true],
  )
})
