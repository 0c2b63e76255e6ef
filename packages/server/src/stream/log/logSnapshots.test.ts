import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Address } from '@bezel/protocol'
import { takeSnapshot } from './logSnapshots.ts'

const TRADER = `0x${'1'.repeat(40)}` as Address

/** A log that grows by so many events during each of the tries, and a snapshot that says how many it holds. */
async function takeWhile(growth: readonly number[]): Promise<{ seq: number; data: string; tries: number }> {
  let lastSeq = 7
  let tries = 0
  const snapshot = await takeSnapshot({ lastSeq: async () => lastSeq }, TRADER, async () => {
    const data = String(lastSeq)
    lastSeq += growth[tries] ?? 0
    tries += 1
    return data
  })
  return { ...snapshot, tries }
}

describe('takeSnapshot', () => {
  it('gives the last seq when nothing happens meanwhile', async () => {
    assert.deepEqual(await takeWhile([]), { seq: 7, data: '7', tries: 1 })
  })

  it('is made again while events come in between', async () => {
    assert.deepEqual(await takeWhile([2]), { seq: 9, data: '9', tries: 2 })
    assert.deepEqual(await takeWhile([2, 1]), { seq: 10, data: '10', tries: 3 })
  })

  it('gives a seq that it certainly holds when they do not stop', async () => {
    assert.deepEqual(await takeWhile([2, 1, 5, 5]), { seq: 10, data: '10', tries: 3 })
  })

  it('lets memory follow a commit before it looks', async () => {
    let inMemory = 0
    const lastSeq = async (): Promise<number> => {
      if (inMemory === 0) queueMicrotask(() => queueMicrotask(() => queueMicrotask(() => (inMemory = 1))))
      return 1
    }
    assert.deepEqual(await takeSnapshot({ lastSeq }, TRADER, async () => String(inMemory)), { seq: 1, data: '1' })
  })
})
