import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { ApiError } from '@bezel/protocol'
import { createFreshness, STALE_AFTER_MS, type Freshness } from './freshness.ts'
import { BTC, createWorld, EUR, portsOf, type MarketWorld } from './testing/fixtures.ts'

/** Returns the reason with which a read is refused; `undefined` when it is not. */
function refusal(read: () => unknown): unknown {
  try {
    read()
    return undefined
  } catch (error) {
    assert.ok(error instanceof ApiError && error.code === 'NOT_READY')
    return error.details?.reason
  }
}

describe('createFreshness', () => {
  let world: MarketWorld
  let freshness: Freshness
  beforeEach(() => {
    world = createWorld()
    freshness = createFreshness(portsOf(world))
  })
  const reasons = () => [freshness.pricesReason(), freshness.marketsReason()]

  it('is ready with a price that is exactly as old as it may be, and not a millisecond later', () => {
    world.nowMs += STALE_AFTER_MS
    assert.deepEqual(reasons(), [undefined, undefined])
    assert.equal(
      refusal(() => freshness.quote(BTC)),
      undefined,
    )
    world.nowMs += 1
    assert.deepEqual(reasons(), ['feed_stale', 'feed_stale'])
    assert.equal(
      refusal(() => freshness.quote(BTC)),
      'feed_stale',
    )
  })

  it('starts until the chain and the snapshot are there', () => {
    world.hasSnapshot = false
    assert.deepEqual(reasons(), ['starting', 'starting'])
    assert.equal(
      refusal(() => freshness.loaded()),
      'starting',
    )
    world.hasSnapshot = true
    world.chain = undefined
    assert.deepEqual(reasons(), ['starting', 'starting'])
  })

  it('lets a closed market keep its last price, whatever the feed does', () => {
    world.nowMs += 86_400_000
    assert.equal(
      refusal(() => freshness.quote(EUR)),
      undefined,
    )
    world.open.clear()
    assert.deepEqual(reasons(), [undefined, undefined])
  })

  it('keeps the trouble of one silent market from the others', () => {
    world.open.add(EUR.pairIndex)
    assert.deepEqual(reasons(), [undefined, undefined])
    assert.equal(
      refusal(() => freshness.quote(EUR)),
      'feed_stale',
    )
    assert.equal(
      refusal(() => freshness.quote(BTC)),
      undefined,
    )
  })

  it('does not take a snapshot for a tick', () => {
    world.quotes.set(0, { ...world.quotes.get(0)!, tickedAtMs: undefined })
    assert.deepEqual(reasons(), ['feed_stale', 'feed_stale'])
  })

  it('refuses a market that the feed does not know', () => {
    world.quotes.delete(21)
    assert.equal(
      refusal(() => freshness.quote(EUR)),
      'feed_stale',
    )
  })

  it('gives prices while the node is away, but nothing that is read from it', () => {
    world.isLagging = true
    assert.deepEqual(reasons(), [undefined, 'chain_lagging'])
    assert.equal(
      refusal(() => freshness.quote(BTC)),
      'chain_lagging',
    )
  })
})
