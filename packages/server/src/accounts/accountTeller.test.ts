import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { createAccountTeller, type AccountTeller } from './accountTeller.ts'
import { traderOf } from './testing/accountNode.ts'

const ALICE = traderOf(0xa1)

describe('telling accounts', () => {
  let told: string[]
  let running: number
  let gate: Promise<void>
  let failures: unknown[]
  let teller: AccountTeller

  beforeEach(() => {
    told = []
    running = 0
    gate = Promise.resolve()
    failures = []
    teller = createAccountTeller({
      now: () => 7,
      onFailure: (error) => failures.push(error),
      log: {
        async account(trader, { text, nowMs }) {
          assert.deepEqual([trader, nowMs, running], [ALICE, 7, 0])
          running += 1
          await gate.finally(() => (running -= 1))
          told.push(text)
          return true
        },
      },
    })
  })

  it('says nothing twice', async () => {
    for (const [order, text] of ['a', 'a', 'b', 'b', 'a'].entries()) await teller.tell(ALICE, { text, order })
    assert.deepEqual(told, ['a', 'b', 'a'])
  })

  it('says one thing after the other, and of those that wait the newest', async () => {
    const slow = Promise.withResolvers<void>()
    gate = slow.promise
    const all = ['a', 'b', 'c', 'd'].map((text, order) => teller.tell(ALICE, { text, order }))
    slow.resolve()
    await Promise.all(all)
    assert.deepEqual(told, ['a', 'd'])
  })

  it('does not say what was asked for earlier, whenever it comes', async () => {
    const slow = Promise.withResolvers<void>()
    gate = slow.promise
    const all = [
      teller.tell(ALICE, { text: 'b', order: 2 }),
      teller.tell(ALICE, { text: 'a', order: 1 }),
      teller.tell(ALICE, { text: 'd', order: 4 }),
      teller.tell(ALICE, { text: 'c', order: 3 }),
    ]
    slow.resolve()
    await Promise.all(all)
    assert.deepEqual(told, ['b', 'd'])
    assert.deepEqual([teller.isOutdated(ALICE, 3), teller.isOutdated(ALICE, 4)], [true, false])
  })

  it('tries again what failed', async () => {
    gate = Promise.reject(new Error('full'))
    await teller.tell(ALICE, { text: 'a', order: 1 })
    assert.deepEqual([told, failures.length], [[], 1])
    gate = Promise.resolve()
    await teller.tell(ALICE, { text: 'a', order: 1 })
    assert.deepEqual([told, failures.length], [['a'], 1])
  })
})
