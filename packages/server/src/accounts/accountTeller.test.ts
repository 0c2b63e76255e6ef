import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { createAccountTeller, type AccountTeller } from './accountTeller.ts'
import type { AccountOutcome } from '../journal/accountLog.ts'
import { traderOf } from './testing/accountNode.ts'

const ALICE = traderOf(0xa1)

describe('telling accounts', () => {
  let told: string[]
  let running: number
  let gate: Promise<void>
  let failures: unknown[]
  let outcome: AccountOutcome
  let teller: AccountTeller

  beforeEach(() => {
    told = []
    running = 0
    gate = Promise.resolve()
    failures = []
    outcome = 'appended'
    teller = createAccountTeller({
      onFailure: (error) => failures.push(error),
      log: {
        async account(trader, { text }) {
          assert.deepEqual([trader, running], [ALICE, 0])
          running += 1
          await gate.finally(() => (running -= 1))
          told.push(text)
          return outcome
        },
      },
    })
  })

  const tell = (text: string, order: number) => teller.tell(ALICE, { holdings: text, text, order })

  it('says nothing twice', async () => {
    for (const [order, text] of ['a', 'a', 'b', 'b', 'a'].entries()) await tell(text, order)
    assert.deepEqual(told, ['a', 'b', 'a'])
  })

  it('says again what the log refused, and what it may not have any more', async () => {
    outcome = 'older'
    await tell('a', 1)
    outcome = 'appended'
    await tell('a', 2)
    await tell('a', 3)
    assert.deepEqual(told, ['a', 'a'])
    teller.forget(ALICE)
    await tell('a', 4)
    const slow = Promise.withResolvers<void>()
    gate = slow.promise
    const telling = tell('b', 5)
    teller.forget(ALICE)
    slow.resolve()
    await telling
    await tell('b', 6)
    await tell('b', 7)
    assert.deepEqual(told, ['a', 'a', 'a', 'b', 'b'])
  })

  it('says one thing after the other, and of those that wait the newest', async () => {
    const slow = Promise.withResolvers<void>()
    gate = slow.promise
    const all = ['a', 'b', 'c', 'd'].map((text, order) => tell(text, order))
    slow.resolve()
    await Promise.all(all)
    assert.deepEqual(told, ['a', 'd'])
  })

  it('does not say what was asked for earlier, whenever it comes', async () => {
    const slow = Promise.withResolvers<void>()
    gate = slow.promise
    const all = [tell('b', 2), tell('a', 1), tell('d', 4), tell('c', 3)]
    slow.resolve()
    await Promise.all(all)
    assert.deepEqual(told, ['b', 'd'])
    assert.deepEqual([teller.isOutdated(ALICE, 3), teller.isOutdated(ALICE, 4)], [true, false])
  })

  it('tries again what failed', async () => {
    gate = Promise.reject(new Error('full'))
    await tell('a', 1)
    assert.deepEqual([told, failures.length], [[], 1])
    gate = Promise.resolve()
    await tell('a', 1)
    assert.deepEqual([told, failures.length], [['a'], 1])
  })
})
