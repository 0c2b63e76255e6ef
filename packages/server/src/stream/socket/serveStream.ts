import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError, CLOSE_CODES } from '@bezel/protocol'
import type { FastifyBaseLogger, FastifyError } from 'fastify'
import type { WebSocket } from 'ws'
import type { ServedChain } from '../../chain/servedChain.ts'
import type { LimitAnswer } from '../../access/limits.ts'
import { toApiError } from '../../access/answerError.ts'
import { requireAllowed } from '../../access/limitAnswers.ts'
import { REQUEST_ID_HEADER, requestIdOf } from '../../access/requestId.ts'
import { DEFAULT_BOUNDS, type StreamBounds } from '../bounds.ts'
import { closeSockets } from './closeSockets.ts'
import { createHandshake, type Handshake, type Upgrade } from './handshake.ts'
import { startHeartbeat, type Pulse } from './heartbeat.ts'
import { createIpCharge, type IpChargeOptions } from './ipCharge.ts'
import { createNativeKind, type NativeKindOptions } from '../session/nativeKind.ts'
import { openSocket, type SocketContext } from './openSocket.ts'
import { createPlaces } from './places.ts'
import { refuseUpgrade } from './refuseUpgrade.ts'
import type { SocketKind } from './socketKind.ts'
import type { StreamCounts } from '../streamCounts.ts'
import { admit, isWebSocketUpgrade, type Admitted } from './upgrade.ts'

export interface StreamOptions extends IpChargeOptions, NativeKindOptions {
  readonly chains: readonly ServedChain[]
  /** What is spoken on other paths than the native one. */
  readonly otherKinds?: readonly SocketKind[]
  readonly metrics: {
    answered(of: { readonly operation: string; readonly status: number; readonly elapsedMs: number }): void
    rateLimited(scope: LimitAnswer['scope']): void
  }
  readonly log: Pick<FastifyBaseLogger, 'info' | 'error'>
  readonly bounds?: Partial<StreamBounds>
}

/** The WebSockets of a server. */
export interface Stream {
  /** Refuses new sockets, says goodbye to all, and is done when the last one is gone. To be called before the server is closed. */
  close(): Promise<void>
}

/** All sockets of one kind. */
interface Room {
  readonly handshake: Handshake
  readonly pulses: Set<Pulse>
  readonly heartbeat: { close(): void }
}

/** Codes with a meaning of their own; beyond them a client may name any number. */
const TOLD_CODES: ReadonlySet<number> = new Set([...Object.values(CLOSE_CODES), 1002, 1005, 1006, 1007, 1008])

/** Serves `/v1/{chain}/ws`, and what else is spoken on other paths. */
export function serveStream(server: Server, options: StreamOptions): Stream {
  const { counts, log, now } = options
  const bounds: StreamBounds = { ...DEFAULT_BOUNDS, ...options.bounds }
  const ipCharge = createIpCharge(options)
  const kinds = [createNativeKind(options, bounds), ...(options.otherKinds ?? [])]
  const admission = { ...options, kinds, ipCharge, places: createPlaces(bounds) }
  const rooms = new Map(kinds.map((kind) => [kind, openRoom(kind, now)]))
  let isClosing = false

  async function onUpgrade(upgrade: Upgrade): Promise<void> {
    const { request, socket } = upgrade
    const startMs = performance.now()
    // From here on the headers have the id that is logged, also where the client gave none.
    const requestId = (request.headers[REQUEST_ID_HEADER] = requestIdOf(request))
    let limitAnswer: LimitAnswer | undefined
    let status = 101
    let operation = kinds[0]!.operation
    // A client that goes away meanwhile is no error, and without a listener it would end the process.
    socket.on('error', ignore)
    try {
      const admitted = await admit(request, socket, admission, (answer) => (limitAnswer = answer))
      operation = admitted.kind.operation
      if (isClosing) throw new ApiError('NOT_READY', 'The service is stopping. Connect again.')
      const room = rooms.get(admitted.kind)!
      room.handshake(upgrade, (webSocket) => open(webSocket, socket, contextOf(admitted, requestId)))
    } catch (error) {
      const refusal = tellableError(options, error, requestId)
      status = refusal.status
      if (limitAnswer?.isAllowed === false) options.metrics.rateLimited(limitAnswer.scope)
      refuseUpgrade(socket, refusal, { url: request.url ?? '', requestId, limitAnswer, nowMs: now() })
    }
    const elapsedMs = performance.now() - startMs
    options.metrics.answered({ operation, status, elapsedMs })
    log.info({ requestId, method: request.method, url: request.url, status, elapsedMs }, 'answered')
  }

  function open(webSocket: WebSocket, socket: Socket, context: SocketContext): void {
    socket.off('error', ignore)
    counts.sockets += 1
    rooms.get(context.kind)!.pulses.add(openSocket(webSocket, socket, context))
  }

  function contextOf({ kind, chain, network, caller }: Admitted, requestId: string): SocketContext {
    const openedMs = performance.now()
    return {
      kind,
      visit: {
        chain,
        caller,
        network,
        charge: async () => requireAllowed(await ipCharge.take(network)),
        toApiError: (error) => tellableError(options, error, requestId),
      },
      onClose(pulse, code) {
        rooms.get(kind)!.pulses.delete(pulse)
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
      await Promise.all([...rooms.values()].map(({ pulses }) => closeSockets(pulses)))
      for (const { heartbeat } of rooms.values()) heartbeat.close()
    },
  }
}

function openRoom({ bounds, dialect }: SocketKind, now: () => number): Room {
  const pulses = new Set<Pulse>()
  return { handshake: createHandshake(bounds), pulses, heartbeat: startHeartbeat(pulses, { bounds, dialect, now }) }
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
