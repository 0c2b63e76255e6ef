import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { MicroUsd } from '@bezel/protocol'
import { UNMETERED } from '../../access/weights.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { ALICE, createFacadeWorld, livePosition, type FacadeWorld } from '../testing/facadeWorld.ts'
import { clearinghouseState, rememberedState } from './clearinghouseState.ts'

describe('what is remembered of an account', () => {
  let world: FacadeWorld
  let reads: FacadeReads
  let made: number
  const ask = (walletUsd = 5n): string =>
    String(rememberedState(reads, ALICE, MicroUsd.of(walletUsd), () => `made ${(made += 1)}`))

  beforeEach(async () => {
    world = await createFacadeWorld()
    // The service returns the same list object until one of the positions changes.
    reads = { ...world.reads, positionsOf: () => world.positions }
    made = 0
  })
  afterEach(() => world.opened.remove())

  it('is made once for any number of readers', () => {
    for (let reader = 0; reader < 5; reader += 1) assert.equal(ask(), 'made 1')
  })

  it('is made anew when a price, a position or the wallet changes', () => {
    ask()
    world.market.version += 1
    assert.equal(ask(), 'made 2')
    world.positions = [livePosition('7')]
    assert.equal(ask(), 'made 3')
    assert.equal(ask(), 'made 3')
    assert.equal(ask(6n), 'made 4')
  })

  it('goes out with the time of the request', async () => {
    const read = async (): Promise<{ time: number }> =>
      JSON.parse(String(await clearinghouseState({ type: 'clearinghouseState', user: ALICE }, reads, UNMETERED)))
    const { time: first, ...before } = await read()
    world.market.nowMs += 1_234
    const { time, ...after } = await read()
    assert.equal(time - first, 1_234)
    assert.deepEqual(after, before)
  })
})
