import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, it, mock } from 'node:test'
import { BezelApiError, type BezelClient, type LogEvent } from '@bezel/sdk'
import { followAccount, isRefusal } from './followAccount.ts'
import { sampleOrder } from './testing/samples.ts'

type Told = LogEvent | Error

/** A client whose channels tell what they are given: each opening of the stream takes the next list. */
function createClient(plans: readonly (readonly Told[])[]) {
  const opened: string[] = []
  let streams = 0
  const stream = () => {
    const plan = plans[streams] ?? []
    streams += 1
    const stopped = Promise.withResolvers<void>()
    async function* read(channel: string): AsyncGenerator<LogEvent> {
      opened.push(channel)
      for (const told of plan) {
        if (told instanceof Error) {
          if (channel === 'orders') throw told
        } else if (told.channel === channel) yield told
      }
      await stopped.promise
    }
    return {
      orders: () => read('orders'),
      fills: () => read('fills'),
      positions: () => read('positions'),
      account: () => read('account'),
      close: () => stopped.resolve(),
    }
  }
  const account = {
    events: async ({ after = 0 }) => ({ lastSeq: 7, data: after > 7 ? [] : [{ seq: 7 }] }),
    orderHistory: async () => ({ data: [sampleOrder()], nextCursor: null }),
  }
  return { client: { stream, account } as never as BezelClient, opened, streams: () => streams }
}

const told = (seq: number, of: Partial<LogEvent>): LogEvent =>
  ({ seq, timestamp: seq, block: null, reverted: false, snapshot: false, ...of }) as LogEvent

function createListener() {
  const ending = new AbortController()
  const heard = { events: [] as number[], past: 0, refused: 0, problems: [] as unknown[] }
  const listener = {
    signal: ending.signal,
    onEvent: ({ seq }: LogEvent) => void heard.events.push(seq),
    onPast: () => void (heard.past += 1),
    onStatus: () => undefined,
    onRefused: () => void (heard.refused += 1),
    onProblem: (error: unknown) => void (error !== null && heard.problems.push(error)),
  }
  return { listener, heard, end: () => ending.abort() }
}

describe('the account of who is signed in', () => {
  it('is read from four channels, each once, and its past beside them', async () => {
    const { client, opened } = createClient([
      [told(1, { channel: 'orders', data: sampleOrder() }), told(2, { channel: 'positions', data: [] })],
    ])
    const { listener, heard, end } = createListener()
    const following = followAccount(client, listener)
    await pause(5)
    assert.deepEqual(opened.toSorted(), ['account', 'fills', 'orders', 'positions'])
    assert.deepEqual(heard, { events: [1, 2], past: 1, refused: 0, problems: [] })
    end()
    await following
  })

  it('is over when the key has ended, and not asked for again', async () => {
    const ended = new BezelApiError({ code: 'API_KEY_UNKNOWN', message: 'No.', status: 401 })
    const { client, streams } = createClient([[ended], []])
    const { listener, heard } = createListener()
    await followAccount(client, listener)
    assert.deepEqual([heard.refused, streams()], [1, 1])
    assert.ok(isRefusal(ended) && !isRefusal(new Error('x')))
  })

  it('begins anew after any other error, and says it meanwhile', async (test) => {
    mock.timers.enable({ apis: ['setTimeout'] })
    test.after(() => mock.timers.reset())
    const forgotten = new BezelApiError({ code: 'VALIDATION_ERROR', message: 'Forgotten.', status: 400 })
    const { client, streams } = createClient([[forgotten], [told(9, { channel: 'account', data: {} as never })]])
    const { listener, heard, end } = createListener()
    const following = followAccount(client, listener)
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
    assert.deepEqual([heard.problems, streams()], [[forgotten], 1])
    mock.timers.tick(2_000)
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
    assert.deepEqual([heard.events, streams()], [[9], 2])
    end()
    mock.timers.tick(2_000)
    await following
  })
})
