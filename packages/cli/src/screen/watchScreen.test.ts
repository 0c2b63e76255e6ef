import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Stream, StreamSettings, StreamSubscription } from '@bezel/sdk'
import { until } from '@bezel/testkit/until.ts'
import { createVirtualTerminal } from '@bezel/testkit/virtualTerminal.ts'
import type { PromptInput } from '../keys/readPassword.ts'
import { PLAIN_TYPING } from '../output/advice.ts'
import { styleFor } from '../output/text.ts'
import { NOW_MS, ORDER, POSITION, priceOf } from './testing/sampleScreen.ts'
import { watchScreen } from './watchScreen.ts'

const ENTRY = { seq: 1, timestamp: NOW_MS, block: null, reverted: false } as const

/** A subscription that tells one event, then waits until it is closed or fails. */
function subscription<Event>(event: Event, ending: Promise<undefined>): StreamSubscription<Event> {
  let isTold = false
  const one: StreamSubscription<Event> = {
    async next() {
      if (isTold) return { done: true, value: await ending }
      isTold = true
      return { done: false, value: event }
    },
    return: () => Promise.resolve({ done: true, value: undefined }),
    close: () => undefined,
    [Symbol.asyncIterator]: () => one,
  }
  return one
}

/** Watches a service that tells a snapshot of everything. */
function watch() {
  const terminal = createVirtualTerminal({ columns: 80, rows: 24 })
  const ending = Promise.withResolvers<undefined>()
  const stop = new AbortController()
  let settings: StreamSettings = {}
  let press = (_: Buffer): void => undefined
  let close = (): void => undefined
  const never = (): never => assert.fail('nobody asks for it')
  const stream: Stream = {
    prices: () =>
      subscription({ channel: 'prices', seq: 1, snapshot: true, data: [priceOf('BTC/USD', '60600')] }, ending.promise),
    positions: () =>
      subscription({ ...ENTRY, channel: 'positions', snapshot: true, data: [POSITION] }, ending.promise) as never,
    orders: () => subscription({ ...ENTRY, channel: 'orders', snapshot: true, data: [ORDER] }, ending.promise) as never,
    fills: () => subscription({ ...ENTRY, channel: 'fills', snapshot: true, data: [] }, ending.promise) as never,
    account: () =>
      subscription({ ...ENTRY, seq: 2, channel: 'orders', snapshot: false, data: ORDER }, ending.promise) as never,
    book: never,
    trades: never,
    candles: never,
    close: () => ending.resolve(undefined),
  }
  const input: PromptInput = {
    isTTY: true,
    on: (_, listener) => void (press = listener),
    off: () => undefined,
    resume: () => undefined,
    pause: () => undefined,
  }
  const watching = watchScreen({
    client: {
      chain: 'arbitrum-sepolia',
      stream(given = {}) {
        settings = given
        return stream
      },
    },
    account: POSITION.trader,
    markets: undefined,
    past: [],
    typing: PLAIN_TYPING,
    terminal: {
      size: () => ({ columns: 80, rows: 24 }),
      write: (text) => terminal.write(text),
      onResize: () => () => undefined,
    },
    input,
    style: styleFor(false, {}),
    now: () => NOW_MS,
    signal: stop.signal,
    onOpen: (undo) => void (close = undo),
  })
  const shows = (pattern: RegExp): Promise<unknown> =>
    until(`the screen shows ${pattern}`, (saw) => {
      saw(terminal.screen())
      return pattern.test(terminal.screen().join('\n'))
    })
  const tell: NonNullable<StreamSettings['onStatus']> = (status) => settings.onStatus?.(status)
  return {
    terminal,
    ending,
    stop,
    watching,
    shows,
    tell,
    press: (keys: string) => press(Buffer.from(keys)),
    undo: () => close(),
  }
}

describe('watchScreen', () => {
  it('shows what the stream tells, and the connection', async () => {
    const { shows, tell, press, watching, terminal } = watch()
    await shows(/^1043 +BTC\/USD +long +0\.019996 +\S+ USDC +60600 /m)
    await shows(/^1044 +ETH\/USD[^]*#2 +order 1044 open/m)
    tell({ state: 'open', socket: 0 })
    await shows(/^live /m)
    tell({ state: 'waiting', reason: 'gone', retryInMs: 3000, attempt: 1, socket: 0 })
    await shows(/^connection lost, trying again in 3 s \(gone\)/m)
    press('q')
    await watching
    assert.ok(!terminal.isAlternate && terminal.isCursorShown)
  })

  it('gives the terminal back when the service ends the stream, and throws its reason', async () => {
    const { ending, watching, terminal, shows } = watch()
    await shows(/^1043/m)
    ending.reject(new Error('revoked'))
    await assert.rejects(watching, /revoked/)
    assert.ok(!terminal.isAlternate && terminal.isCursorShown)
  })

  it('ends with the signal, and can be undone from outside before', async () => {
    const { stop, watching, terminal, undo } = watch()
    assert.ok(terminal.isAlternate)
    undo()
    assert.ok(!terminal.isAlternate)
    stop.abort()
    await watching
  })
})
