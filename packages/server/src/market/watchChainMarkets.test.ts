import { NodeUnavailableError } from '../ground/unavailable.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CHAINS } from '@bezel/protocol'
import type { RpcClient } from '../chain/rpcClient.ts'
import { until } from '@bezel/testkit/until.ts'
import { watchChainMarkets, type RefreshOutcome } from './watchChainMarkets.ts'

/** A node whose answers make no sense. */
const garbled: RpcClient = {
  roundTrips: () => 0,
  batch: async (calls) => calls.map(() => ({ ok: true, result: { number: 'x', timestamp: null } })),
}

function watch(client: RpcClient, verifyChain: () => Promise<void>) {
  const outcomes: RefreshOutcome[] = []
  const clock = { nowMs: 0 }
  let verified = 0
  const watched = watchChainMarkets({
    client,
    diamond: CHAINS.base.liveDiamond,
    referencePrices: { of: async () => new Map() },
    verifyChain: () => {
      verified += 1
      return verifyChain()
    },
    now: () => clock.nowMs,
    refreshMs: 5,
    onRefresh: (outcome) => outcomes.push(outcome),
  })
  return { watched, outcomes, clock, verified: () => verified }
}

describe('watchChainMarkets', () => {
  it('reads nothing before the chain is known to be the right one, and tries again', async () => {
    let batches = 0
    const counting: RpcClient = { ...garbled, batch: (calls) => ((batches += 1), garbled.batch(calls)) }
    const { watched, verified } = watch(counting, () => Promise.reject(new NodeUnavailableError('down')))
    await until('a few tries', () => verified() > 3)
    watched.close()
    assert.deepEqual([batches, watched.current()], [0, undefined])
  })

  it('tells of a failure once, and counts as lagging when it lasts', async () => {
    const { watched, outcomes, clock, verified } = watch(garbled, async () => undefined)
    await until('a few tries', () => verified() > 3)
    assert.deepEqual(
      outcomes.map(({ state }) => state),
      ['failed'],
    )
    assert.equal(watched.isLagging(), false)
    clock.nowMs = 60_000
    assert.equal(watched.isLagging(), true)
    assert.equal(watched.version(), 0)
    watched.close()
  })

  it('stops when it is closed', async () => {
    const { watched, verified } = watch(garbled, async () => undefined)
    await until('a try', () => verified() > 0)
    watched.close()
    const before = verified()
    // A second watch serves as the clock: once it has tried a few times, this one would have too.
    const other = watch(garbled, async () => undefined)
    await until('a few tries of another', () => other.verified() > 3)
    other.watched.close()
    assert.ok(verified() <= before + 1)
  })
})
