import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { markRestored } from '../../store/restoredStore.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'
import { attemptOf, FINAL_BLOCKS, openRelayWorld, type RelayWorld } from './testing/relayWorld.ts'

describe('the relayer after a back-up was put back', () => {
  let world: RelayWorld

  beforeEach(async () => {
    world = await openRelayWorld()
    await world.settle()
  })
  afterEach(() => world.close())

  const restore = async (): Promise<void> => {
    const { nowMs } = world
    const floors = { nowMs, nonceFloorMs: nowMs, facadeFloorMs: nowMs }
    await world.opened.store.transaction(TEST_SCOPE, (sql) => markRestored(sql, floors))
    world.restart()
  }

  it('repeats no action whose transaction was re-priced and mined under a hash of after the back-up', async () => {
    const attempt = attemptOf({ expiresAtMs: world.nowMs + 600_000 })
    await world.enqueue(attempt)
    // Mined with the entry's nonce, and not known to the store.
    world.node.useElsewhere()
    await restore()
    await world.pass(FINAL_BLOCKS + 10, 2_000)
    assert.equal(world.node.used(), 1)
    assert.ok(world.node.received.every(({ nonce }) => nonce === 0))
    assert.deepEqual([world.relaying.health().unsettled, world.relaying.health().counts.lost], [0, 1])
    const next = await world.enqueue(attemptOf({ expiresAtMs: world.nowMs + 600_000 }))
    await world.pass(2)
    const last = world.node.minedTransactions().at(-1)!
    assert.deepEqual([last.nonce, last.hash], [1, next])
  })

  it('burns the nonce of an action that the chain does not have', async () => {
    await world.enqueue(attemptOf({ expiresAtMs: world.nowMs + 600_000 }))
    await restore()
    await world.pass(4, 2_000)
    const mined = world.node.minedTransactions()
    assert.deepEqual(
      mined.map(({ nonce, data }) => [nonce, data]),
      [[0, '0x']],
    )
  })

  it('goes on after the nonces that were used since', async () => {
    for (let sent = 0; sent < 3; sent++) world.node.useElsewhere()
    await restore()
    await world.settle()
    const hash = await world.enqueue(attemptOf({ expiresAtMs: world.nowMs + 600_000 }))
    await world.pass(2)
    const last = world.node.minedTransactions().at(-1)!
    assert.deepEqual([last.nonce, last.hash], [3, hash])
  })
})
