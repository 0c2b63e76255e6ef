import type { LivePosition } from '../../trading/positions/positionModel.ts'
import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { ApiError, type Address } from '@bezel/protocol'
import { createFreshness } from '../../market/freshness.ts'
import type { NotReadyReason } from '../../ground/unavailable.ts'
import { chainMarkets, createWorld, portsOf, usd, type MarketWorld } from '../../market/testing/fixtures.ts'
import { createPositionReads, type PositionReads } from './positionReads.ts'
import { ALICE, live } from './testing/livePosition.ts'

/** Returns the details of the refusal that `read` throws. */
function reasonOf(read: () => unknown): unknown {
  try {
    read()
  } catch (error) {
    assert.ok(error instanceof ApiError)
    assert.equal(error.code, 'NOT_READY')
    return error.details?.reason
  }
  return undefined
}

describe('reads of positions', () => {
  let world: MarketWorld
  let positions: readonly LivePosition[]
  let reason: NotReadyReason | undefined
  let headMs: number
  let reads: PositionReads

  beforeEach(() => {
    world = createWorld()
    world.chain = chainMarkets({ borrowingParams: { borrowingRatePerSecondP: 31_710 } })
    positions = [live('1', 0), live('2', 0), live('3', 21)]
    reason = undefined
    headMs = 1_000_000
    reads = createPositionReads({
      live: { ofTrader: (trader) => (trader === ALICE ? positions : []) },
      freshness: createFreshness(portsOf(world)),
      head: () => ({ timestampMs: headMs }),
      followerReason: () => reason,
      priceVersion: () => world.version,
      now: () => world.nowMs,
    })
  })

  const quote = (pairIndex: number, price: number): void => {
    const tickedAtMs = world.nowMs
    world.version += 1
    world.quotes.set(pairIndex, { pairIndex, mark: usd(price), index: usd(price), updatedAtMs: tickedAtMs, tickedAtMs })
  }
  const listed = () => JSON.parse(reads.listOf(ALICE).toString()) as { data: unknown[] }

  it('are the same as bytes and as objects', () => {
    assert.deepEqual(listed().data, reads.ofTrader(ALICE))
    assert.deepEqual(reads.answer(positions[1]!), reads.ofTrader(ALICE)[1])
  })

  it('make bytes anew only when a price, a block or the markets change', () => {
    const first = reads.listOf(ALICE)
    assert.equal(first.buffer.byteLength, first.length, 'in memory of their own, as one is kept for each trader')
    quote(0, 60_000)
    headMs += 999
    assert.equal(reads.listOf(ALICE), first, 'a tick of the same price, a block in the same second')

    const changes: readonly (() => void)[] = [
      () => quote(0, 60_001),
      () => quote(21, 1.17),
      () => (headMs += 1_000),
      () => (world.chain = { ...world.chain!, moment: { timestampS: 2_000, blockNumber: 101 } }),
      () => (positions = positions.slice(1)),
    ]
    let before = first
    for (const change of changes) {
      change()
      const next = reads.listOf(ALICE)
      assert.notDeepEqual(next, before)
      assert.deepEqual(JSON.parse(next.toString()).data, reads.ofTrader(ALICE))
      assert.equal(reads.listOf(ALICE), next)
      before = next
    }
  })

  it('notice a silent feed without any change that tells of it', () => {
    reads.listOf(ALICE)
    world.nowMs += 9_990
    reads.listOf(ALICE)
    world.nowMs += 50
    assert.equal(
      reasonOf(() => reads.listOf(ALICE)),
      'feed_stale',
    )
  })

  it('wait for what was followed to be right', () => {
    for (const why of ['starting', 'chain_lagging'] as const) {
      reason = why
      for (const read of [
        () => reads.listOf(ALICE),
        () => reads.ofTrader(ALICE),
        () => reads.answer(positions[0]!),
        () => reads.listOf(`0x${'bb'.repeat(20)}` as Address),
      ]) {
        assert.equal(reasonOf(read), why)
      }
    }
  })

  it('need a fresh price of every market in them, and of no other', () => {
    world.nowMs += 10_001
    assert.equal(
      reasonOf(() => reads.listOf(ALICE)),
      'feed_stale',
    )
    assert.equal(
      reasonOf(() => reads.answer(positions[0]!)),
      'feed_stale',
    )
    positions = [positions[2]!]
    assert.equal(listed().data.length, 1, 'a closed market keeps its last price')
    positions = []
    assert.deepEqual(listed(), { data: [] })
  })

  it('need markets that know the pair', () => {
    world.chain = { ...world.chain!, pairs: new Map() }
    assert.equal(
      reasonOf(() => reads.listOf(ALICE)),
      'starting',
    )
    world.chain = undefined
    assert.equal(
      reasonOf(() => reads.listOf(ALICE)),
      'starting',
    )
    world.chain = chainMarkets()
    world.isLagging = true
    assert.equal(
      reasonOf(() => reads.listOf(ALICE)),
      'chain_lagging',
    )
  })
})
