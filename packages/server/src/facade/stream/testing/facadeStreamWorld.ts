import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Address } from '@bezel/protocol'
import { WebSocket } from 'ws'
import { createInProcessLimits } from '../../../access/inProcessLimits.ts'
import type { OverloadGuard } from '../../../access/overload.ts'
import type { JsonValue } from '../../../json/parseStrictJson.ts'
import { serveStream } from '../../../stream/socket/serveStream.ts'
import { createStreamCounts } from '../../../stream/streamCounts.ts'
import { listen, type StreamClient, type Told } from '../../../stream/testing/streamClient.ts'
import { testChain } from '@bezel/testkit/servedChain.ts'
import { createFacadeWorld, type FacadeWorld } from '../../testing/facadeWorld.ts'
import type { FacadeBounds } from '../facadeSession.ts'
import { createFacadeCounts, type FacadeCounts, type FacadeStreamSources } from '../channels/facadeChannel.ts'
import { openFacadeStream } from '../openFacadeStream.ts'
import { createFakeFacadeSources, type FakeFacadeSources } from './fakeFacadeSources.ts'

/** A client of the facade that records the messages it receives. */
export interface FacadeClient extends StreamClient {
  /** Subscribes and waits for the acknowledgement. */
  subscribe(subscription: object): Promise<Told>
  /** The data of all messages of a channel so far. */
  dataOf<Data = Record<string, unknown>>(channel: string): Data[]
}

/** The facade's sockets on loopback, with sources that the test controls. */
export interface FacadeStreamWorld extends Omit<FakeFacadeSources, 'sources'> {
  readonly facade: FacadeWorld
  readonly counts: FacadeCounts
  readonly sockets: () => number
  readonly errors: unknown[]
  /** Users whose accounts are being polled. */
  readonly watched: Address[]
  /** The envelopes that `exchange` received. */
  readonly envelopes: JsonValue[]
  exchange: () => Promise<{ status: number; body: unknown }>
  readonly url: string
  connect(): Promise<FacadeClient>
  close(): Promise<void>
}

interface FacadeStreamWorldOptions {
  readonly bounds?: Partial<FacadeBounds>
  readonly ipLimit?: number
  readonly overload?: OverloadGuard
  /** The commits of several nodes. Default: there is one node. */
  readonly commits?: FacadeStreamSources['commits']
  /** A clock in milliseconds, by which sockets are silent. Default `performance.now`. */
  readonly clock?: () => number
}

export async function startFacadeStream(options: FacadeStreamWorldOptions = {}): Promise<FacadeStreamWorld> {
  const facade = await createFacadeWorld()
  const fakes = createFakeFacadeSources(facade)
  const errors: unknown[] = []
  const watched: Address[] = []
  const counts = createFacadeCounts()
  const stream = openFacadeStream({
    chains: ['base'],
    counts,
    overload: options.overload,
    ...(options.bounds === undefined ? {} : { bounds: options.bounds }),
    sourcesOf: () => ({
      ...fakes.sources,
      commits: options.commits,
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
    kinds: [stream.kind],
    counts: streamCounts,
    metrics: { answered: () => undefined, rateLimited: () => undefined },
    log: { info: () => undefined, error: (line: unknown) => void errors.push(line) },
    limits: createInProcessLimits(),
    ipLimit: options.ipLimit ?? 100_000,
    trustedProxies: 0,
    now: () => facade.market.nowMs,
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  const url = `ws://127.0.0.1:${port}/hl/base/ws`

  const world: FacadeStreamWorld = {
    ...fakes,
    facade,
    counts,
    errors,
    watched,
    url,
    envelopes: [],
    sockets: () => streamCounts.sockets,
    exchange: async () => ({ status: 200, body: { status: 'ok', response: { type: 'default' } } }),
    connect: async () => clientOf(await listen(new WebSocket(url, { perMessageDeflate: false }))),
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
