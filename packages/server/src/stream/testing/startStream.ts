import { createServer, type Server } from 'node:http'
import { ApiError, parseAddress, type Address } from '@bezel/protocol'
import { createInProcessLimits } from '../../access/inProcessLimits.ts'
import type { Caller } from '../../access/caller.ts'
import { testChain } from '@bezel/testkit/servedChain.ts'
import { DEFAULT_BOUNDS, type StreamBounds } from '../bounds.ts'
import { createNativeKind, type NativeKindOptions } from '../session/nativeKind.ts'
import type { StreamAuth } from '../session/streamAuth.ts'
import type { Channel, SubscribeLog, Connection } from '../channel.ts'
import { createPublicChannels } from '../channels/streamChannels.ts'
import { serveStream, type ServedStream } from '../socket/serveStream.ts'
import { createStreamCounts, type StreamCounts } from '../streamCounts.ts'
import { createFakeSources, type FakeSources } from './fakeSources.ts'

export const CHAIN = 'arbitrum-sepolia'

export const TRADER: Address = parseAddress(`0x${'ab'.repeat(20)}`)!

/** The one API key that the fake authentication accepts, in a message and as the header `key`. */
export const GOOD_KEY = 'gk_good'

/** A stream with fake sources and a fake authentication, on a server that does not listen yet. */
export interface TestStream {
  readonly server: Server
  readonly sources: FakeSources
  readonly counts: StreamCounts
  readonly stream: ServedStream
  /** Connections that subscribed to a private channel. */
  readonly logConnections: Connection[]
  /** HTTP statuses of the answered upgrades, as reported to the metrics. */
  readonly statuses: number[]
  /** Log lines of level error. */
  readonly errors: unknown[]
  /** Delays the answer to `auth` until it resolves. */
  authDelay: Promise<void>
  /** The reason why no caller may listen any more; `undefined` while all may. */
  lapse: ApiError | undefined
  close(): Promise<void>
}

export interface TestStreamOptions {
  readonly bounds?: Partial<StreamBounds>
  readonly ipLimit?: number
  readonly overload?: NativeKindOptions['overload']
  /** A clock in milliseconds. Default `performance.now`. */
  readonly clock?: () => number
}

export function startStream(options: TestStreamOptions = {}): TestStream {
  const { bounds = {}, ipLimit = 100_000, overload, clock = () => performance.now() } = options
  const server = createServer((_request, response) => response.end('http'))
  const sources = createFakeSources()
  const counts = createStreamCounts()
  const publicChannels = createPublicChannels(sources, counts)
  const logConnections: Connection[] = []
  const statuses: number[] = []
  const errors: unknown[] = []
  const log: Channel<SubscribeLog> = {
    async subscribe(connection) {
      logConnections.push(connection)
      return { start: () => undefined, close: () => undefined }
    },
  }
  const channels = { ...publicChannels, orders: log, fills: log, positions: log, account: log }
  const auth: StreamAuth = {
    lapseOf: () => test.lapse,
    async authenticate(_chain, message) {
      await test.authDelay
      return callerOf('apiKey' in message ? message.apiKey : undefined)
    },
    authenticateUpgrade: async (_chain, { headers }) =>
      headers.key === undefined ? undefined : callerOf(String(headers.key)),
  }
  const allBounds = { ...DEFAULT_BOUNDS, ...bounds }
  const stream = serveStream(server, {
    chains: [testChain(CHAIN)],
    kinds: [createNativeKind({ channelsOf: () => channels, auth, counts, overload, now: Date.now, clock }, allBounds)],
    counts,
    metrics: { answered: ({ status }) => void statuses.push(status), rateLimited: () => undefined },
    log: { info: () => undefined, error: (line: unknown) => void errors.push(line) },
    limits: createInProcessLimits(),
    ipLimit,
    trustedProxies: 0,
    now: Date.now,
    clock,
    bounds: allBounds,
  })
  const close = async (): Promise<void> => {
    await stream.close()
    publicChannels.close()
  }
  const parts = { server, sources, counts, stream, logConnections, statuses, errors }
  const test: TestStream = { ...parts, authDelay: Promise.resolve(), lapse: undefined, close }
  return test
}

function callerOf(key: string | undefined): Caller {
  if (key === GOOD_KEY) return { via: 'apiKey', trader: TRADER, keyHash: key as never }
  throw new ApiError('API_KEY_UNKNOWN', 'This API key is not registered on this chain.')
}
