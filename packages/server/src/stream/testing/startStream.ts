import { createServer, type Server } from 'node:http'
import { ApiError, parseAddress, type Address } from '@bezel/protocol'
import { createInProcessLimits } from '../../access/inProcessLimits.ts'
import type { Caller } from '../../access/caller.ts'
import { testChain } from '@bezel/testkit/servedChain.ts'
import type { StreamBounds } from '../bounds.ts'
import type { Channel, SubscribeLog } from '../channel.ts'
import type { Connection } from '../connection.ts'
import { createPublicChannels } from '../topics/publicChannels.ts'
import { serveStream, type Stream } from '../socket/serveStream.ts'
import { createStreamCounts, type StreamCounts } from '../streamCounts.ts'
import { createFakeSources, type FakeSources } from './fakeSources.ts'

export const CHAIN = 'arbitrum-sepolia'
export const TRADER: Address = parseAddress(`0x${'ab'.repeat(20)}`)!
/** The one API key that the fake of the authentication knows, in a message and as the header `key`. */
export const GOOD_KEY = 'gk_good'

/** A stream with sources and an authentication that are fakes, on a server that does not listen yet. */
export interface TestStream {
  readonly server: Server
  readonly sources: FakeSources
  readonly counts: StreamCounts
  readonly stream: Stream
  /** Connections that subscribed to a private channel. */
  readonly logConnections: Connection[]
  /** How upgrades were answered, as metrics hear of it. */
  readonly statuses: number[]
  /** Lines of level error. */
  readonly errors: unknown[]
  /** What `auth` waits for. */
  authDelay: Promise<void>
  /** Why no caller may listen any more. */
  lapse: ApiError | undefined
  close(): Promise<void>
}

export interface TestStreamOptions {
  readonly bounds?: Partial<StreamBounds>
  readonly ipLimit?: number
}

export function startStream({ bounds = {}, ipLimit = 100_000 }: TestStreamOptions = {}): TestStream {
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
  const stream = serveStream(server, {
    chains: [testChain(CHAIN)],
    channelsOf: () => channels,
    auth: {
      lapseOf: () => test.lapse,
      async authenticate(_chain, message) {
        await test.authDelay
        return callerOf('apiKey' in message ? message.apiKey : undefined)
      },
      authenticateUpgrade: async (_chain, { headers }) =>
        headers.key === undefined ? undefined : callerOf(String(headers.key)),
    },
    counts,
    metrics: { answered: ({ status }) => void statuses.push(status), rateLimited: () => undefined },
    log: { info: () => undefined, error: (line: unknown) => void errors.push(line) },
    limits: createInProcessLimits(),
    ipLimit,
    trustedProxies: 0,
    now: Date.now,
    bounds,
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
