import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { createInProcessLimits } from '../../packages/server/src/access/inProcessLimits.ts'
import { createPublicChannels } from '../../packages/server/src/stream/channels/streamChannels.ts'
import { DEFAULT_BOUNDS } from '../../packages/server/src/stream/bounds.ts'
import { createNativeKind } from '../../packages/server/src/stream/session/nativeKind.ts'
import { serveStream } from '../../packages/server/src/stream/socket/serveStream.ts'
import { createStreamCounts, type StreamCounts } from '../../packages/server/src/stream/streamCounts.ts'
import { createFakeSources, type FakeSources } from '../../packages/server/src/stream/testing/fakeSources.ts'
import { BTC, symbol, usd } from '../../packages/server/src/market/testing/fixtures.ts'
import { testChain } from '@bezel/testkit/servedChain.ts'

const CHAIN = 'arbitrum-sepolia'
const MARKETS = 300
/** Number of markets whose prices a tick changes. */
const CHANGED_MARKETS = 20
const MANY = 1_000_000

/** The stream without the rest of the service, with a feed that ticks on demand. */
export interface FanoutServer {
  readonly port: number
  readonly path: string
  readonly counts: StreamCounts
  /** The TCP connections below the WebSockets. */
  readonly sockets: ReadonlySet<Socket>
  /** Sends one tick, which changes the prices of some markets. */
  tick(): void
  close(): Promise<void>
}

export async function startFanoutServer(): Promise<FanoutServer> {
  const server = createServer()
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const sources = createFakeSources()
  listMarkets(sources)
  const counts = createStreamCounts()
  const channels = createPublicChannels(sources, counts)
  const none = { subscribe: () => Promise.reject(new Error('not here')) }
  const bounds = { ...DEFAULT_BOUNDS, maxSocketsPerIp: MANY }
  const native = createNativeKind(
    {
      channelsOf: () => ({ ...channels, orders: none, fills: none, positions: none, account: none }),
      auth: {
        lapseOf: () => undefined,
        authenticate: () => Promise.reject(new Error('not here')),
        authenticateUpgrade: async () => undefined,
      },
      counts,
      now: Date.now,
    },
    bounds,
  )
  const stream = serveStream(server, {
    chains: [testChain(CHAIN)],
    kinds: [native],
    counts,
    metrics: { answered: () => undefined, rateLimited: () => undefined },
    log: { info: () => undefined, error: console.error },
    limits: createInProcessLimits(),
    ipLimit: MANY,
    trustedProxies: 0,
    now: Date.now,
    bounds,
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  let ticks = 0
  return {
    port: (server.address() as AddressInfo).port,
    path: `/v1/${CHAIN}/ws`,
    counts,
    sockets,
    tick() {
      ticks += 1
      const marks = Array.from({ length: CHANGED_MARKETS }, (_, at) => [at * 10, 60_000 + ticks / 100 + at])
      sources.tick(Object.fromEntries(marks))
    },
    async close() {
      await stream.close()
      channels.close()
      server.close()
    },
  }
}

function listMarkets({ world }: FakeSources): void {
  const listed = Array.from({ length: MARKETS }, (_, pairIndex) => ({
    ...BTC,
    pairIndex,
    symbol: symbol(`M${pairIndex}/USD`),
  }))
  const updatedAtMs = world.nowMs
  const price = { mark: usd(60_000), index: usd(60_000), updatedAtMs }
  for (const { pairIndex } of listed) world.quotes.set(pairIndex, { pairIndex, ...price })
  world.chain = { ...world.chain!, markets: new Map(listed.map((market) => [market.symbol, market])) }
}
