import { before, beforeEach } from 'node:test'
import type { Hex } from 'viem'
import { createWorld, type World } from './world.ts'

/** Chain time stands still unless a test moves it, so that whatever accrues with time is exact. */
const STANDING_CLOCK_MS = 1_800_000_000_000

/** A deployed chain for all test files of this process, which take turns, and its state before any of them. */
let deployed: Promise<{ world: World; freshId: Hex }> | undefined

/**
 * One world for all tests of a file; each test starts from the state that `prepare` left. Use it through the returned
 * getter.
 */
export function sharedWorld(prepare: (world: World) => Promise<void> = async () => undefined): () => World {
  let world: World | undefined
  let snapshotId: Hex | undefined

  before(async () => {
    world = await takeFreshWorld()
    await prepare(world)
  })
  beforeEach(async () => {
    if (snapshotId !== undefined) await world?.restore(snapshotId)
    snapshotId = await world?.snapshot()
  })
  return () => {
    if (world === undefined) throw new Error('the world exists from the first test on')
    return world
  }
}

async function takeFreshWorld(): Promise<World> {
  if (deployed === undefined) {
    const world = await createWorld('arbitrum-sepolia', () => STANDING_CLOCK_MS)
    deployed = world.snapshot().then((freshId) => ({ world, freshId }))
    return world
  }
  const { world, freshId } = await deployed
  // A snapshot is used up with its return, so there is a next one for the next file.
  await world.restore(freshId)
  deployed = world.snapshot().then((nextId) => ({ world, freshId: nextId }))
  await deployed
  return world
}
