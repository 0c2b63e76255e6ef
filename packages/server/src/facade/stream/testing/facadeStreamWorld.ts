import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ApiError, type Address, type CandleInterval, type LogChannel } from '@bezel/protocol'
import { WebSocket } from 'ws'
import { openAppendableLog } from '../../../accounts/log/testing/appendableLog.ts'
import { createInProcessLimits } from '../../../cluster/inProcessLimits.ts'
import type { JsonValue } from '../../../http/json/parseStrictJson.ts'
import { createListeners } from '../../../market/listeners.ts'
import type { Tick } from '../../../market/feed.ts'
import { usd } from '../../../market/testing/fixtures.ts'
import { serveStream } from '../../../stream/serveStream.ts'
import { createStreamCounts } from '../../../stream/streamCounts.ts'
import { listen, type StreamClient, type Told } from '../../../stream/testing/streamClient.ts'
import { createTurns } from '../../../stream/turns.ts'
import { testChain } from '../../../testing/servedChain.ts'
import { ALICE, createFacadeWorld, type FacadeWorld } from '../../testing/facadeWorld.ts'
import type { FacadeBounds } from '../facadeBounds.ts'
import { createFacadeCounts, type FacadeCounts } from '../facadeCounts.ts'
import { openFacadeStream } from '../openFacadeStream.ts'

/** A client of the facade that keeps what it is told. */
export interface FacadeClient extends StreamClient {
  /** Subscribes and takes the acknowledgement. */
  subscribe(subscription: object): Promise<Told>
  /** The data of all messages of a channel so far. */
  dataOf<Data = Record<string, unknown>>(channel: string): Data[]
}

/** The facade's sockets on loopback, with sources that say what the test says. */
export interface FacadeStreamWorld {
  readonly facade: FacadeWorld
  readonly counts: FacadeCounts
  readonly sockets: () => number
  readonly errors: unknown[]
  /** Whose accounts are looked at in rounds. */
  readonly watched: Address[]
  /** What `exchange` was given, and what it answers. */
  readonly envelopes: JsonValue[]
  exchange: () => Promise<{ status: number; body: unknown }>
  readonly url: string
  connect(): Promise<FacadeClient>
  /** Moves marks, in USD by pair, and tells so. */
  tick(marks: Readonly<Record<number, number>>): void
  tellTrades(pairIndex: number): void
  tellCandles(pairIndexes: readonly number[]): void
  tellRepaired(pairIndex: number, interval: CandleInterval): void
  /** Appends to a trader's log. */
  append(channel: LogChannel, data: unknown, of?: { trader?: Address; isReverted?: boolean }): Promise<void>
  close(): Promise<void>
}

export async function startFacadeStream(
  options: { readonly bounds?: Partial<FacadeBounds>; readonly ipLimit?: number } = {},
): Promise<FacadeStreamWorld> {
  const facade = await createFacadeWorld()
  const { store } = facade.opened
  const log = openAppendableLog(store, 'base')
  const ticks = createListeners<Tick>()
  const trades = createListeners<readonly { pairIndex: number; trade: never }[]>()
  const takenBack = createListeners<void>()
  const changes = createListeners<Iterable<number>>()
  const repaired = createListeners<{ pairIndex: number; interval: CandleInterval }>()
  const errors: unknown[] = []
  const watched: Address[] = []
  const counts = createFacadeCounts()
  const stream = openFacadeStream({
    chains: ['base'],
    counts,
    ...(options.bounds === undefined ? {} : { bounds: options.bounds }),
    sourcesOf: () => ({
      reads: facade.reads,
      log,
      feed: { onTick: ticks.add },
      candles: { onChange: changes.add, onRepaired: repaired.add },
      trades: { onTrades: trades.add, onTakenBack: (listener) => takenBack.add(listener) },
      turns: createTurns(),
      onError: (error) => void errors.push(error),
      watch(trader) {
        watched.push(trader)
        return () => void watched.splice(watched.indexOf(trader), 1)
      },
    }),
    exchangeOf: () => (payload) => {
      world.envelopes.push(payload)
      return world.exchange()
    },
  })
  const server = createServer()
  const streamCounts = createStreamCounts()
  const served = serveStream(server, {
    chains: [testChain('base')],
    channelsOf: () => ({}) as never,
    auth: {
      lapseOf: () => undefined,
      authenticate: () => Promise.reject(new ApiError('UNAUTHENTICATED', 'no')),
      authenticateUpgrade: async () => undefined,
    },
    counts: streamCounts,
    metrics: { answered: () => undefined, rateLimited: () => undefined },
    log: { info: () => undefined, error: (line: unknown) => void errors.push(line) },
    limits: createInProcessLimits(),
    ipLimit: options.ipLimit ?? 100_000,
    trustedProxies: 0,
    now: () => facade.market.nowMs,
    otherKinds: [stream.kind],
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  const url = `ws://127.0.0.1:${port}/hl/base/ws`

  const world: FacadeStreamWorld = {
    facade,
    counts,
    errors,
    watched,
    url,
    envelopes: [],
    sockets: () => streamCounts.sockets,
    exchange: async () => ({ status: 200, body: { status: 'ok', response: { type: 'default' } } }),
    connect: async () => clientOf(await listen(new WebSocket(url, { perMessageDeflate: false }))),
    tick(marks) {
      const { nowMs, quotes } = facade.market
      const told = Object.entries(marks).map(([pair, price]) => {
        const times = { updatedAtMs: nowMs, tickedAtMs: nowMs }
        return { pairIndex: Number(pair), mark: usd(price), index: usd(price), ...times }
      })
      for (const quote of told) quotes.set(quote.pairIndex, quote)
      facade.market.version += 1
      ticks.tell({ timeMs: nowMs, receivedAtMs: nowMs, quotes: told })
    },
    tellTrades: (pairIndex) => trades.tell([{ pairIndex, trade: undefined as never }]),
    tellCandles: (pairIndexes) => changes.tell(pairIndexes),
    tellRepaired: (pairIndex, interval) => repaired.tell({ pairIndex, interval }),
    append: (channel, data, { trader = ALICE, isReverted = false } = {}) =>
      log.append(trader, [{ channel, timestampMs: 1, block: null, isReverted, data: JSON.stringify(data) }]),
    async close() {
      await served.close()
      stream.close()
      await new Promise((closed) => server.close(closed))
      facade.opened.remove()
    },
  }
  return world
}

function clientOf(client: StreamClient): FacadeClient {
  return Object.assign(client, {
    subscribe: (subscription: object) => client.ask({ method: 'subscribe', subscription }),
    dataOf: <Data>(channel: string) =>
      client.told.filter((message) => message.channel === channel).map(({ data }) => data as Data),
  })
}
