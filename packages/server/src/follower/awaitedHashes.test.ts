import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Hex, OrderId } from '@bezel/protocol'
import { numberToHex } from 'viem'
import type { AttemptId } from '../trading/orders/orderModel.ts'
import { createAwaitedHashes } from './awaitedHashes.ts'
import { openFollowedFake, SERVED, type FollowedFake } from './testing/followedFake.ts'
import { attempt, orderRecord } from './testing/handMade.ts'

const hashOf = (n: number): Hex => numberToHex(n, { size: 32 }) as Hex
const idOf = (n: number): AttemptId => numberToHex(n, { size: 8 }) as AttemptId

describe('reported hashes that are asked about', () => {
  let fake: FollowedFake
  let ask: () => Promise<Hex[]>
  beforeEach(async () => {
    fake = await openFollowedFake()
    ask = createAwaitedHashes({ store: fake.opened.store, chain: SERVED, now: () => fake.nowMs })
  })
  afterEach(() => fake.opened.remove())

  async function reported(n: number, hash: Hex): Promise<OrderId> {
    const id = await fake.prepare(orderRecord(1), attempt(idOf(n)))
    await fake.report(id, idOf(n), hash)
    return id
  }

  it('are the last two of an order, however many it had', async () => {
    const attempts = Array.from({ length: 40 }, (_, n) =>
      attempt(idOf(n), { submittedHash: hashOf(n), submittedAtMs: 1_800_000_000_000 + n }),
    )
    await fake.prepare(orderRecord(1), ...attempts.toReversed())
    assert.deepEqual(await ask(), [hashOf(38), hashOf(39)])
  })

  it('are those of some orders at a time, and of all in turn', async () => {
    for (let n = 0; n < 60; n += 1) await reported(n, hashOf(n))
    const looks = [await ask(), await ask(), await ask()]
    assert.ok(looks.every((hashes) => hashes.length <= 50))
    assert.equal(new Set(looks.flat()).size, 60)
    assert.deepEqual(await ask(), looks[0])
  })

  it('are asked about once when several orders have the same', async () => {
    await reported(1, hashOf(7))
    await reported(2, hashOf(7))
    assert.deepEqual(await ask(), [hashOf(7)])
  })
})
