import { NodeUnavailableError } from '../ground/unavailable.ts'
import assert from 'node:assert/strict'
import { beforeEach, describe, it, mock } from 'node:test'
import { setImmediate as nextTick } from 'node:timers/promises'
import { CHAINS, type Address } from '@bezel/protocol'
import { pad, type Hex } from 'viem'
import { createDelegates, delegateIfKnown, type Delegates } from './delegates.ts'

const ALICE = '0x00000000000000000000000000000000000000A1' as Address
const BOB = '0x00000000000000000000000000000000000000b2' as Address
const AGENT = '0x0000000000000000000000000000000000000aBc' as Address
const NOBODY = '0x0000000000000000000000000000000000000000' as Address
const SETTING_MS = 2_000

describe('delegates', () => {
  let nowMs: number
  /** The number of calls of each round trip. */
  let batches: number[]
  let delegate: Address
  let isAway: boolean
  /** Delays the node's answers until it resolves. */
  let gate: Promise<void>
  let delegates: Delegates

  beforeEach(() => {
    nowMs = 1_000_000
    batches = []
    delegate = AGENT
    isAway = false
    gate = Promise.resolve()
    delegates = createDelegates({
      diamond: CHAINS.base.liveDiamond,
      maxAgeMs: SETTING_MS,
      now: () => nowMs,
      client: {
        roundTrips: () => batches.length,
        async batch(calls) {
          batches.push(calls.length)
          await gate
          if (isAway) throw new NodeUnavailableError('away')
          return calls.map(() => ({ ok: true, result: pad(delegate as Hex) }))
        },
      },
    })
  })

  it('asks once for requests that come together, and not again before the setting', async () => {
    assert.deepEqual(await Promise.all([delegates.read(ALICE), delegates.read(ALICE)]), [AGENT, AGENT])
    nowMs += SETTING_MS - 1
    assert.equal(await delegates.look(ALICE), AGENT)
    assert.deepEqual(batches, [1])
    nowMs += 1
    await delegates.look(ALICE)
    assert.deepEqual(batches, [1, 1])
  })

  it('costs active traders nothing while the round keeps up', async () => {
    await delegates.read(ALICE)
    await delegates.read(BOB)
    batches = []
    for (let round = 1; round <= 20; round += 1) {
      nowMs += SETTING_MS
      // A request that comes while the round is under way does not wait either.
      nowMs += 300
      assert.equal(await delegates.read(ALICE), AGENT)
      await delegates.refreshActive()
    }
    assert.deepEqual(
      batches,
      Array.from({ length: 20 }, () => 2),
      'one batch a round for both',
    )
  })

  it('notices a change with the next round', async () => {
    await delegates.read(ALICE)
    delegate = NOBODY
    nowMs += SETTING_MS
    await delegates.refreshActive()
    assert.equal(await delegates.read(ALICE), NOBODY)
  })

  it('asks for itself when no round came', async () => {
    await delegates.read(ALICE)
    delegate = NOBODY
    nowMs += SETTING_MS * 1.5
    assert.equal(await delegates.read(ALICE), NOBODY)
  })

  it('leaves out who was not active for a minute, and who was never: a public look makes nobody active', async () => {
    await delegates.look(BOB)
    await delegates.read(ALICE)
    nowMs += 60_000
    await delegates.refreshActive()
    nowMs += 1
    await delegates.refreshActive()
    assert.deepEqual(batches, [1, 1, 1])
  })

  it('goes on with the last look while the node is away, without waiting for it each time', async () => {
    await delegates.read(ALICE)
    isAway = true
    nowMs += 3_000
    batches = []
    assert.equal(await delegates.read(ALICE), AGENT)
    assert.equal(await delegates.read(ALICE), AGENT)
    assert.deepEqual(batches, [1])
    await assert.rejects(delegates.read(BOB), NodeUnavailableError)
    await assert.rejects(delegates.refreshActive(), NodeUnavailableError)

    isAway = false
    delegate = NOBODY
    nowMs += SETTING_MS
    await delegates.refreshActive()
    assert.equal(await delegates.read(ALICE), NOBODY)
  })

  it('does not wait for a slow node when there is a look, unless that one would refuse', async () => {
    await delegates.read(ALICE)
    nowMs += 3_000
    batches = []
    const { promise, resolve } = Promise.withResolvers<void>()
    gate = promise
    mock.timers.enable({ apis: ['setTimeout'] })
    const believed = delegates.isDelegate(ALICE, AGENT)
    await nextTick()
    mock.timers.tick(500)
    assert.equal(await believed, true)
    mock.timers.reset()
    assert.equal(await delegates.read(ALICE), AGENT)
    assert.deepEqual(batches, [1], 'from then on nobody waits')
    const asked = delegates.isDelegate(ALICE, BOB)
    delegate = BOB
    resolve()
    assert.equal(await asked, true)
    assert.equal(await delegates.read(ALICE), BOB)
  })

  it('a look of somebody else fails, or tells what is known', async () => {
    isAway = true
    assert.equal(await delegateIfKnown(delegates, ALICE), undefined)
    delegates.learn(ALICE, AGENT)
    nowMs += SETTING_MS
    await assert.rejects(delegates.look(ALICE), NodeUnavailableError)
    assert.equal(await delegateIfKnown(delegates, ALICE), AGENT)
  })

  it('is not told an older answer over a newer one', () => {
    delegates.learn(ALICE, NOBODY, nowMs)
    delegates.learn(ALICE, AGENT, nowMs - 1)
    assert.equal(delegates.known(ALICE), NOBODY)
  })
})
