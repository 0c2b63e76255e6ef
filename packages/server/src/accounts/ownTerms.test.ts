import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import type { Address, OrderId } from '@bezel/protocol'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import { ORDINARY_TERMS } from '../trading/valuation/chainState.ts'
import { live } from './positions/testing/livePosition.ts'
import { spreadWords, traderOf } from './testing/accountNode.ts'
import { createAccountWorld, REFRESH_MS, type AccountWorld } from './testing/accountWorld.ts'

const ALICE = traderOf(0xa1)
const BOB = traderOf(0xb2)

describe('the terms of traders with positions', () => {
  let world: AccountWorld
  /** The spread of each trader in every pair, plus the index of the pair. */
  const spreads = (trader: Address, spread: number): void => {
    world.node.of.set(trader, { spread: (pairIndex) => spreadWords(spread + pairIndex) })
  }
  const held = (trader: Address, id: string, pairIndex: number) => {
    const { record, state } = live(id, pairIndex)
    return { record: { ...record, trader, id: id as OrderId }, state }
  }
  const round = async (): Promise<void> => {
    world.nowMs += REFRESH_MS
    await world.accounts.round()
  }

  beforeEach(() => {
    world = createAccountWorld()
    world.positions = [held(ALICE, '1', 0), held(ALICE, '2', 21), held(ALICE, '3', 0), held(BOB, '4', 0)]
    spreads(ALICE, 100)
    spreads(BOB, 50)
  })

  it('come with the one round trip of an account, once for each pair', async () => {
    await world.accounts.accountText(ALICE)
    assert.deepEqual(world.node.sizes, [9 + 2])
    assert.deepEqual([world.terms.of(ALICE, 0).fixedSpreadP, world.terms.of(ALICE, 21).fixedSpreadP], [100, 121])
    assert.equal(world.terms.of(BOB, 0), ORDINARY_TERMS)
  })

  it('are read for everybody after a start, then only for who is watched, until they are due', async () => {
    world.collaterals = undefined
    await round()
    assert.deepEqual(world.node.sizes.splice(0), [3])
    assert.equal(world.terms.of(BOB, 0).fixedSpreadP, 50)
    assert.deepEqual(world.told, [], 'that starts no log for strangers')

    world.collaterals = []
    world.accounts.watch(ALICE)
    spreads(ALICE, 200)
    spreads(BOB, 60)
    await round()
    assert.deepEqual(world.node.sizes.splice(0), [3 + 2])
    assert.equal(world.terms.of(ALICE, 0).fixedSpreadP, 200)
    assert.equal(world.terms.of(BOB, 0).fixedSpreadP, 50)
    world.nowMs += 3_600_000
    await round()
    assert.deepEqual(world.node.sizes, [3 + 2, 1])
    assert.equal(world.terms.of(BOB, 0).fixedSpreadP, 60)
  })

  it('are read again after a restart', async () => {
    await round()
    world.restart()
    assert.equal(world.terms.of(BOB, 0), ORDINARY_TERMS)
    await round()
    assert.equal(world.terms.of(BOB, 0).fixedSpreadP, 50)
  })

  it('do not make an account fail, and stay as they were when the node does not tell them', async () => {
    await round()
    for (const result of ['0x', null, `0x${'f'.repeat(192)}`]) {
      world.node.of.set(ALICE, { spread: () => ({ ok: true, result }) })
      world.accounts.forget(ALICE)
      await world.accounts.accountText(ALICE)
      assert.equal(world.terms.of(ALICE, 0).fixedSpreadP, 100)
    }
    const reverted = { ok: false, code: 3, message: 'execution reverted', data: '0x' } as const
    world.node.of.set(ALICE, { spread: () => reverted })
    world.accounts.forget(ALICE)
    await world.accounts.accountText(ALICE)
    assert.deepEqual(world.terms.of(ALICE, 0), ORDINARY_TERMS, 'a Diamond without own terms')
  })

  it('share the batches of accounts, so that none is larger than nodes take', async () => {
    const many = (trader: Address, from: number) =>
      Array.from({ length: 30 }, (_, i) => held(trader, String(from + i), i))
    const carol = traderOf(0xc3)
    world.positions = [...many(ALICE, 100), ...many(BOB, 200), ...many(carol, 300)]
    world.collaterals = []
    for (const trader of [ALICE, BOB, carol]) world.accounts.watch(trader)
    await round()
    assert.deepEqual(world.node.sizes, [99])
    world.accounts.watch(traderOf(0xd4))
    world.positions = [...world.positions, ...many(traderOf(0xd4), 400)]
    await round()
    assert.deepEqual(world.node.sizes.slice(1), [99, 33])
  })

  it('wait for a node that is away', async () => {
    world.node.state = 'down'
    await assert.rejects(round(), NodeUnavailableError)
    world.node.state = 'up'
    await round()
    assert.equal(world.terms.of(BOB, 0).fixedSpreadP, 50)
  })
})
