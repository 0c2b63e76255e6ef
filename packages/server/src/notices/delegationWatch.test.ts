import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Address } from '@bezel/protocol'
import { createLookAgain } from './delegationWatch.ts'

const traderOf = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}` as Address

describe('looking again at delegations that nobody uses', () => {
  it('gives everybody a turn, however many there are', async () => {
    let nowMs = 0
    const lookAgain = createLookAgain({ refresh: async () => {} }, () => nowMs)
    const traders = Array.from({ length: 2_000 }, (_, n) => traderOf(n))
    const looks = new Map<Address, number>()
    for (let round = 0; round < 100; round += 1) {
      nowMs += 2_000
      for (const trader of await lookAgain(traders)) looks.set(trader, (looks.get(trader) ?? 0) + 1)
    }
    assert.deepEqual([looks.size, new Set(looks.values())], [2_000, new Set([5])])
  })

  it('looks at the same one no sooner than it has to, and forgets who is gone', async () => {
    let nowMs = 0
    const lookAgain = createLookAgain({ refresh: async () => {} }, () => nowMs)
    assert.deepEqual(await lookAgain([traderOf(1)]), [traderOf(1)])
    nowMs += 29_999
    assert.deepEqual(await lookAgain([traderOf(1)]), [])
    assert.deepEqual(await lookAgain([]), [])
    assert.deepEqual(await lookAgain([traderOf(1)]), [traderOf(1)], 'who comes back is new')
  })
})
