import type { LoggedEvent } from '../store/accountEventStore.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Address } from '@bezel/protocol'
import { readPage } from './readPage.ts'

const TRADER = `0x${'1'.repeat(40)}` as Address

/** Makes a log of events of given sizes that records how many events each read asks for. */
function logOf(count: number, bytesOf: (seq: number) => number, firstSeq = (): number => 1) {
  const asked: number[] = []
  return {
    asked,
    async read(_trader: Address, { after, limit }: { after: number; limit: number }): Promise<LoggedEvent[]> {
      asked.push(limit)
      const first = Math.max(after + 1, firstSeq())
      const length = Math.max(0, Math.min(limit, count + 1 - first))
      return Array.from({ length }, (_, at) => eventOf(first + at, 'x'.repeat(bytesOf(first + at))))
    },
  }
}

function eventOf(seq: number, data: string): LoggedEvent {
  return { seq, channel: 'orders', timestampMs: 0, block: null, isReverted: false, data }
}

const page = async (log: ReturnType<typeof logOf>, bounds: Partial<Parameters<typeof readPage>[2]> = {}) => {
  const { events, isLast } = await readPage(log, TRADER, { after: 0, limit: 500, maxBytes: 10_000, ...bounds })
  return [events[0]?.seq, events.length, isLast]
}

describe('a page of a log', () => {
  it('has as many events as are asked for while they are small', async () => {
    const log = logOf(1_000, () => 10)
    assert.deepEqual(await page(log), [1, 500, false])
    assert.deepEqual(log.asked, [25, 475])
    assert.deepEqual(await page(log, { after: 600 }), [601, 400, true])
    assert.deepEqual(await page(log, { after: 1_000 }), [undefined, 0, true])
    assert.deepEqual(await page(log, { after: 3, limit: 2 }), [4, 2, false])
  })

  it('ends with the event that makes it large enough, and has at least one', async () => {
    assert.deepEqual(await page(logOf(1_000, () => 3_000)), [1, 4, false])
    assert.deepEqual(await page(logOf(1_000, () => 50_000)), [1, 1, false])
    const growing = logOf(1_000, (seq) => (seq <= 25 ? 10 : 4_000))
    assert.deepEqual(await page(growing), [1, 28, false])
  })

  it('reads no more than it can use', async () => {
    const log = logOf(1_000, () => 300)
    assert.deepEqual(await page(log), [1, 34, false])
    assert.ok(log.asked.reduce((sum, count) => sum + count, 0) <= 34)
  })

  it('has no hole when the next events are forgotten meanwhile', async () => {
    const firstSeqs = [1, 40]
    const log = logOf(
      1_000,
      () => 10,
      () => firstSeqs.shift()!,
    )
    assert.deepEqual(await page(log), [1, 25, false])
  })
})
