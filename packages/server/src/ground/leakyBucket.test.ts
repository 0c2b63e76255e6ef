import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { createLeakyBucket } from './leakyBucket.ts'

const PAUSE_MS = 1_000

describe('createLeakyBucket', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
  afterEach(() => mock.timers.reset())

  /** Moves the clock on and lets what has its turn run. */
  async function pass(ms: number): Promise<void> {
    mock.timers.tick(ms)
    await Promise.resolve()
  }

  it('gives the first turn at once, and each further one a pause later, in order', async () => {
    const bucket = createLeakyBucket({ pauseMs: PAUSE_MS, size: 2 })
    const turns: string[] = []
    assert.equal(bucket.isFree(), true)
    for (const name of ['first', 'second', 'third']) bucket.take()?.then(() => turns.push(name))
    await pass(0)
    assert.deepEqual([turns, bucket.isFree()], [['first'], false])
    await pass(PAUSE_MS - 1)
    assert.deepEqual(turns, ['first'])
    await pass(1)
    assert.deepEqual(turns, ['first', 'second'])
    await pass(PAUSE_MS)
    assert.deepEqual([turns, bucket.isFree()], [['first', 'second', 'third'], false])
    await pass(PAUSE_MS)
    assert.equal(bucket.isFree(), true)
  })

  it('lets no more wait than it holds', async () => {
    const bucket = createLeakyBucket({ pauseMs: PAUSE_MS, size: 1 })
    assert.ok(bucket.take())
    assert.ok(bucket.take())
    assert.equal(bucket.take(), undefined)
    await pass(PAUSE_MS)
    assert.ok(bucket.take(), 'there is room again')
  })

  it('gives every turn at once without a pause, and none once it is closed', () => {
    const bucket = createLeakyBucket({ pauseMs: 0, size: 1 })
    for (let turn = 0; turn < 3; turn += 1) assert.ok(bucket.take())
    assert.equal(bucket.isFree(), true)
    bucket.close()
    assert.deepEqual([bucket.take(), bucket.isFree()], [undefined, false])
  })
})
