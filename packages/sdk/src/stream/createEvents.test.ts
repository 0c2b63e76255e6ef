import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { LOG_CHANNELS, type AccountEvent, type EventPage, type LogChannel } from '@bezel/protocol/wire'
import { createEvents, type EventsOptions } from './createEvents.ts'
import { createStream, type Stream } from './createStream.ts'
import { connectionLost, streamError } from './streamError.ts'
import { startStandInService, type StandInService } from './testing/standInService.ts'

const BACK_OFF = { minMs: 1, maxMs: 2 }

describe('the log as one', () => {
  let service: StandInService
  let stream: Stream
  let rest: AccountEvent[]
  let failures: Error[]

  beforeEach(async () => {
    service = await startStandInService()
    const authenticate = async () => ({ op: 'auth', apiKey: 'bz_1' }) as const
    stream = createStream({ url: service.url, authenticate, minDelayMs: 5, maxDelayMs: 20, maxWaiting: 3 })
    rest = []
    failures = []
  })
  afterEach(async () => {
    stream.close()
    await service.close()
  })

  function append(count: number): void {
    for (let at = 0; at < count; at += 1) {
      // Long runs of one channel, during which the others fall far behind.
      const channel: LogChannel = LOG_CHANNELS[Math.floor(rest.length / 7) % LOG_CHANNELS.length]!
      service.append(channel)
      const seq = rest.length + 1
      rest.push({ seq, channel, timestamp: seq, block: null, reverted: false } as AccountEvent)
    }
  }

  async function readPage(after: number, limit: number): Promise<EventPage> {
    const failure = failures.shift()
    if (failure !== undefined) throw failure
    return { data: rest.slice(after, after + Math.min(limit, 10)), lastSeq: rest.length }
  }
  const events = (options: EventsOptions = {}) => createEvents({ ...options, readPage, stream, backOff: BACK_OFF })
  const upTo = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at)

  async function seqsOf(of: AsyncIterable<AccountEvent>, last: number): Promise<number[]> {
    const seqs: number[] = []
    for await (const { seq } of of) {
      seqs.push(seq)
      if (seq === last) return seqs
    }
    return seqs
  }

  it('begins with pages and goes on live, over cuts, each event once and in order', async () => {
    append(25)
    const seqs: number[] = []
    for await (const { seq } of events()) {
      seqs.push(seq)
      if (seq === 25 || seq === 60) append(35)
      if (seq === 40 || seq === 70) service.cut()
      if (seq === 95) break
    }
    assert.deepEqual(seqs, upTo(1, 95))
  })

  it('goes on behind the event that was kept', async () => {
    append(25)
    assert.deepEqual(await seqsOf(events({ after: 17 }), 25), upTo(18, 25))
  })

  it('can begin with what happens from now on', async () => {
    append(12)
    const latest = events({ after: 'latest' })
    const first = latest.next()
    while (service.said.filter(({ op }) => op === 'subscribe').length < 4) await new Promise(setImmediate)
    append(1)
    assert.equal((await first).value?.seq, 13)
    latest.close()
  })

  it('waits for a service that is away, and not for one that refuses', async () => {
    append(3)
    failures.push(connectionLost(service.url, 'gone'), streamError({ code: 'NOT_READY', message: 'Starting.' }))
    assert.deepEqual(await seqsOf(events(), 3), [1, 2, 3])
    failures.push(streamError({ code: 'TRADER_MISMATCH', message: 'Not yours.' }))
    await assert.rejects(seqsOf(events(), 3), { code: 'TRADER_MISMATCH' })
  })

  it('does not go on over a hole', async () => {
    append(20)
    rest.splice(0, 5)
    await assert.rejects(seqsOf(events(), 20), { code: 'VALIDATION_ERROR' })
  })

  it('ends without an error when it is closed, and with the reason when it is aborted', async () => {
    const controller = new AbortController()
    const [closed, aborted] = [events(), events({ signal: controller.signal })]
    const [waiting, alsoWaiting] = [closed.next(), aborted.next()]
    closed.close()
    assert.deepEqual(await waiting, { done: true, value: undefined })
    controller.abort(new Error('enough'))
    await assert.rejects(alsoWaiting, { message: 'enough' })
    assert.deepEqual(await aborted.next(), { done: true, value: undefined })
  })
})
