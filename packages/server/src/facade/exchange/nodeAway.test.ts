import assert from 'node:assert/strict'
import { it } from 'node:test'
import { NodeUnavailableError } from '../../ground/unavailable.ts'
import { openClaimWorld, RELAYER } from './testing/claimWorld.ts'

it('an action of a key proves nothing while the node is away and nobody looked at the delegate', async () => {
  const world = await openClaimWorld(1_700_000_000_000)
  const owner = world.party()
  const standing = async () => (await world.registry.findAgent('base', owner.address))?.standing
  let isAway = true
  const { delegates } = world
  const read = delegates.get.bind(delegates)
  delegates.get = (trader) => {
    if (isAway) throw new NodeUnavailableError('away')
    return read(trader)
  }
  assert.ok(await world.send(world.approval(owner, owner.address, { name: '', nonce: world.nowMs })))
  world.nowMs += 1
  assert.equal(await world.act(owner, world.nowMs), owner.address)
  assert.equal(await standing(), 'seen')
  isAway = false
  delegates.set(owner.address, RELAYER)
  world.nowMs += 20_000
  assert.equal(await world.act(owner, world.nowMs), owner.address)
  assert.equal(await standing(), 'used')
  await world.close()
})
