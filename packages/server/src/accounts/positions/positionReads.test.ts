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
      head: () => ({ number: 100, timestampMs: headMs }),
      followerReason: () => reason,
      priceVersion: () => world.version,
      now: () => world.nowMs,
    })
  })

  const quote = (pairIndex: number, price: number): void => {
    const updatedAtMs = world.nowMs
    world.version += 1
    world.quotes.set(pairIndex, { pairIndex, mark: usd(price), index: usd(price), updatedAtMs })
  }
  const listed = () => JSON.parse(reads.listOf(ALICE).toString()) as { data: unknown[] }

  it('are the same as bytes and as objects', () => {
    assert.deepEqual(listed().data, reads.ofTrader(ALICE))
    assert.deepEqual(reads.answer(positions[1]!), reads.ofTrader(ALICE)[1])
    assert.equal(reads.openOf(ALICE), positions)
    const texts = positions.map((position) => reads.textOf(position))
    assert.equal(`{"data":[${texts.join(',')}]}`, reads.listOf(ALICE).toString())
  })

  it('make bytes anew only when a price, a block or the markets change', () => {
    const first = reads.listOf(ALICE)
    assert.equal(first.buffer.byteLength, first.length, 'in memory of their own, as one is kept for each trader')
    headMs += 999
    world.version += 1
    assert.equal(reads.listOf(ALICE), first, 'a price of another market, a block in the same second')

    const changes: readonly (() => void)[] = [
      () => {
        world.nowMs += 1
        quote(0, 60_000)
      },
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

  it('notice a lagging chain without any change that tells of it', () => {
    reads.listOf(ALICE)
    world.isLagging = true
    world.nowMs += 50
    assert.equal(
      reasonOf(() => reads.listOf(ALICE)),
      'chain_lagging',
    )
  })

  it('wait for what was followed to be right', () => {
    for (const why of ['starting', 'chain_lagging'] as const) {
      reason = why
      for (const read of [
        () => reads.listOf(ALICE),
        () => reads.ofTrader(ALICE),
        () => reads.answer(positions[0]!),
        () => reads.openOf(ALICE),
        () => reads.textOf(positions[0]!),
        () => reads.listOf(`0x${'bb'.repeat(20)}` as Address),
      ]) {
        assert.equal(reasonOf(read), why)
      }
    }
  })

  it('are never hidden by a quiet market: each has its last mark, and tells how old that is', () => {
    const [btcAtMs, eurAtMs] = [world.quotes.get(0)!.updatedAtMs, world.quotes.get(21)!.updatedAtMs]
    const told = () => reads.ofTrader(ALICE).map(({ markPrice, priceAt }) => [markPrice, priceAt])
    world.nowMs += 3_600_000
    quote(21, 1.17)
    assert.deepEqual(told(), [
      ['60000', btcAtMs],
      ['60000', btcAtMs],
      ['1.17', world.nowMs],
    ])
    assert.ok(eurAtMs < btcAtMs)
    world.nowMs += 86_400_000
    assert.equal(listed().data.length, 3, 'nor by a silent feed')
    positions = []
    assert.deepEqual(listed(), { data: [] })
  })

  it('are valued at their entry price while the feed has no price of the market', () => {
    world.quotes.delete(0)
    const [position] = reads.ofTrader(ALICE)
    assert.deepEqual([position?.markPrice, position?.priceAt], [position?.entryPrice, 0])
    assert.deepEqual(listed().data, reads.ofTrader(ALICE))
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
