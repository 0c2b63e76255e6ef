import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Hex } from '@bezel/protocol'
import { saveAgent } from '../../store/agentStore.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'
import type { Relaying } from './createRelaying.ts'
import { listMayBeMined } from './renewEntries.ts'
import { attemptOf, CHAIN, FINAL_BLOCKS, openRelayWorld, ownAgent, testKey, TRADER } from './testing/relayWorld.ts'
import type { RelayWorld } from './testing/relayWorld.ts'

describe('a relayer of several processes', () => {
  let world: RelayWorld
  /** The process that sends, and one that only stores what is to be sent. */
  let leader: Relaying
  let other: Relaying

  beforeEach(async () => {
    world = await openRelayWorld()
    leader = world.startBeside()
    leader.lead(world.opened.store)
    world.relaying = leader
    other = world.startBeside()
    await world.settle()
    await other.step()
  })
  afterEach(() => world.close())

  const far = (): ReturnType<typeof attemptOf> => attemptOf({ expiresAtMs: world.nowMs + 600_000 })
  const enqueueBeside = async (): Promise<Hex> => {
    const action = { attempt: far(), trader: TRADER, agent: TRADER, purpose: { kind: 'other' } } as const
    return (await world.opened.store.transaction(TEST_SCOPE, (sql) => other.enqueue(sql, action))).hash
  }
  const revoke = (): Promise<void> =>
    world.opened.store.transaction(TEST_SCOPE, (sql) =>
      saveAgent(sql, { ...ownAgent(CHAIN.slug, TRADER), revoked: true }),
    )
  const minedHashes = (): Hex[] => world.node.minedTransactions().map(({ hash }) => hash)
  const actions = (): number => world.node.minedTransactions().filter(({ data }) => data.length > 4).length

  it('sends by its leader alone what any of them stored', async () => {
    const hash = await enqueueBeside()
    await other.step()
    assert.equal(world.node.received.length, 0)
    assert.equal(await leader.hasNews(), true)
    await world.pass(1)
    assert.deepEqual(minedHashes(), [hash])
    assert.equal(await leader.hasNews(), false)
  })

  it('tells on each of them when a transaction is no longer on its way', async () => {
    const hash = await enqueueBeside()
    await world.pass(1)
    while (await other.step());
    assert.equal(await other.isOnItsWay(hash), false)
    await world.pass(FINAL_BLOCKS + 2)
    await other.step()
    assert.deepEqual([other.health().unsettled, other.health().counts.mined], [0, 0])
    assert.equal(leader.health().counts.mined, 1)
  })

  it('burns what was revoked on another process, and names it, because it may have been sent', async () => {
    const hash = await enqueueBeside()
    await revoke()
    const { mayBeMined, burns } = await other.burnRevoked(TRADER)
    assert.deepEqual([mayBeMined.map(({ txHash }) => txHash), burns.length], [[hash], 1])
    await world.pass(1)
    assert.deepEqual([minedHashes(), actions()], [burns, 0])
  })

  it('sends the burn of another process in place of what it knew', async () => {
    await enqueueBeside()
    await world.settle()
    await revoke()
    const { burns } = await other.burnRevoked(TRADER)
    await world.pass(1)
    assert.deepEqual([minedHashes(), actions()], [burns, 0])
  })

  it('burns what a process without the key revoked, which names it', async () => {
    const hash = await enqueueBeside()
    await world.settle()
    await revoke()
    const context = { sender: { chain: CHAIN.slug, sender: testKey.address }, now: () => world.nowMs }
    const named = await listMayBeMined(world.opened.store.read, context, TRADER)
    assert.deepEqual(
      named.map(({ txHash }) => txHash),
      [hash],
    )
    world.nowMs += 10_000
    await world.pass(1)
    assert.equal(actions(), 0)
  })

  it('goes on under its next leader, and sends nothing twice', async () => {
    const hashes = [await enqueueBeside(), await world.enqueue(far())]
    await world.settle()
    leader.lead(undefined)
    other.lead(world.opened.store)
    world.relaying = other
    hashes.push(await world.enqueue(far()))
    await world.pass(FINAL_BLOCKS + 2)
    await leader.step()
    assert.deepEqual(minedHashes(), hashes)
    assert.equal(leader.health().unsettled, 0)
  })
})
