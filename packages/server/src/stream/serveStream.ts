import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError, CLOSE_CODES, type ChainSlug } from '@bezel/protocol'
import type { FastifyBaseLogger, FastifyError } from 'fastify'
import type { WebSocket } from 'ws'
import type { ServedChain } from '../chain/servedChain.ts'
import type { LimitAnswer } from '../cluster/limits.ts'
import { toApiError } from '../http/answerError.ts'
import { requireAllowed } from '../http/hooks/limitAnswers.ts'
import { REQUEST_ID_HEADER, requestIdOf } from '../http/requestId.ts'
import type { Metrics } from '../metrics/createMetrics.ts'
import type { StreamAuth } from './auth.ts'
import { DEFAULT_BOUNDS, type StreamBounds } from './bounds.ts'
import type { Channels } from './channel.ts'
import { closeSockets } from './closeSockets.ts'
import { createHandshake, type Upgrade } from './handshake.ts'
import { startHeartbeat, type Pulse } from './heartbeat.ts'
import { createIpCharge, type IpChargeOptions } from './ipCharge.ts'
import { openSocket, type SocketContext } from './openSocket.ts'
import { createPlaces } from './places.ts'
import { refuseUpgrade } from './refuseUpgrade.ts'
import type { StreamCounts } from './streamCounts.ts'
import { admit, isWebSocketUpgrade, type Admitted } from './upgrade.ts'

export interface StreamOptions extends IpChargeOptions {
  readonly chains: readonly ServedChain[]
  readonly channelsOf: (chain: ChainSlug) => Channels
  readonly auth: StreamAuth
  readonly counts: StreamCounts
  readonly metrics: Pick<Metrics, 'answered' | 'rateLimited'>
  readonly log: Pick<FastifyBaseLogger, 'info' | 'error'>
  readonly bounds?: Partial<StreamBounds>
}

/** The WebSockets of a server. */
export interface Stream {
  /** Refuses new sockets, says goodbye to all, and is done when the last one is gone. To be called before the server is closed. */
  close(): Promise<void>
}

/** What an upgrade is called in metrics. */
const OPERATION = 'openStream'

/** Codes with a meaning of their own; beyond them a client may name any number. */
const TOLD_CODES: ReadonlySet<number> = new Set([...Object.values(CLOSE_CODES), 1002, 1005, 1006, 1007, 1008])

/** Serves `/v1/{chain}/ws`. */
export function serveStream(server: Server, options: StreamOptions): Stream {
  const { counts, log, now } = options
  const bounds: StreamBounds = { ...DEFAULT_BOUNDS, ...options.bounds }
  const ipCharge = createIpCharge(options)
  const admission = { ...options, ipCharge, places: createPlaces(bounds) }
  const pulses = new Set<Pulse>()
  const heartbeat = startHeartbeat(pulses, { bounds, now })
  const handshake = createHandshake(bounds)
  let isClosing = false

  async function onUpgrade(upgrade: Upgrade): Promise<void> {
    const { request, socket } = upgrade
    const startMs = performance.now()
    // From here on the headers have the id that is logged, also where the client gave none.
    const requestId = (request.headers[REQUEST_ID_HEADER] = requestIdOf(request))
    let limitAnswer: LimitAnswer | undefined
    let status = 101
    // A client that goes away meanwhile is no error, and without a listener it would end the process.
    socket.on('error', ignore)
    try {
      const admitted = await admit(request, socket, admission, (answer) => (limitAnswer = answer))
      if (isClosing) throw new ApiError('NOT_READY', 'The service is stopping. Connect again.')
      handshake(upgrade, (webSocket) => open(webSocket, socket, contextOf(admitted, requestId)))
    } catch (error) {
      const refusal = tellableError(options, error, requestId)
      status = refusal.status
      if (limitAnswer?.isAllowed === false) options.metrics.rateLimited(limitAnswer.scope)
      refuseUpgrade(socket, refusal, { requestId, limitAnswer, nowMs: now() })
    }
    const elapsedMs = performance.now() - startMs
    options.metrics.answered({ operation: OPERATION, status, elapsedMs })
    log.info({ requestId, method: request.method, url: request.url, status, elapsedMs }, 'answered')
  }

  function open(webSocket: WebSocket, socket: Socket, context: SocketContext): void {
    socket.off('error', ignore)
    counts.sockets += 1
    pulses.add(openSocket(webSocket, socket, context))
  }

  function contextOf({ chain, network, caller }: Admitted, requestId: string): SocketContext {
    const openedMs = performance.now()
    return {
      chain,
      caller,
      bounds,
      counts,
      now,
      channels: options.channelsOf(chain.slug),
      lapseOf: (of) => options.auth.lapseOf(chain, of),
      async authenticate(message) {
        requireAllowed(await ipCharge.take(network))
        return options.auth.authenticate(chain, message)
      },
      toApiError: (error) => tellableError(options, error, requestId),
      onClose(pulse, code) {
        pulses.delete(pulse)
        countClose(counts, code)
        const elapsedMs = performance.now() - openedMs
        log.info({ requestId, chain: chain.slug, code, elapsedMs }, 'socket closed')
      },
    }
  }

  server.on('upgrade', (request, socket, head) => void onUpgrade({ request, socket: socket as Socket, head }))
  Object.assign(server, { shouldUpgradeCallback: isWebSocketUpgrade })
  return {
    async close() {
      isClosing = true
      await closeSockets(pulses)
      heartbeat.close()
    },
  }
}

function tellableError({ log }: Pick<StreamOptions, 'log'>, error: unknown, requestId: string): ApiError {
  const refusal = toApiError(error as FastifyError, requestId)
  if (refusal.code === 'INTERNAL') log.error({ requestId, err: error }, 'request failed')
  return refusal
}

function countClose(counts: StreamCounts, code: number): void {
  const label = TOLD_CODES.has(code) ? String(code) : 'other'
  counts.sockets -= 1
  counts.closed.set(label, (counts.closed.get(label) ?? 0) + 1)
}

function ignore(): void {
  // Nobody is there to be told.
}
