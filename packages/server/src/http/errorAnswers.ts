import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { ApiError, type NotificationError } from '@bezel/protocol'
import { REQUEST_ID_HEADER, answerError, malformed, refusalOf } from '../access/answerError.ts'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'

const RESPONSES = Symbol('responses')

/** A connection with the responses of its requests. They are a field, because a weak map costs every request more. */
type AskedSocket = Socket & { [RESPONSES]?: ServerResponse[] }

/**
 * Keeps track of the requests of each connection that have no answer yet; with pipelining there can be several.
 * Answered ones are dropped when the next request arrives, because a listener on each response would slow every request
 * down.
 */
export function watchUnanswered(server: Server): void {
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const asked: AskedSocket = socket
    const earlier = asked[RESPONSES]
    if (earlier === undefined || earlier.every(isOver)) asked[RESPONSES] = [response]
    else earlier.push(response)
  })
}

/** The error with which Node tells of bytes that are no request. */
interface ClientError {
  readonly code?: string
  /** Its copy of what it read: a buffer of up to 64 KB. */
  readonly rawPacket?: unknown
}

/** The most refusals that are written in a second. The rest of a flood is only closed, which costs less. */
const MAX_REFUSALS = 200
const REFUSALS_WINDOW_MS = 1_000

/**
 * Creates the function that answers bytes that never became a request (broken HTTP, headers too large, too slow) in the
 * common shape of errors. Earlier requests on the same connection get their own answers first: otherwise a client could
 * take this refusal for the answer to its order. In a flood the connections beyond `MAX_REFUSALS` are closed without a
 * word.
 */
export function createRefusals(clock: () => number): (error: ClientError, socket: Socket) => void {
  let window = -Infinity
  let written = 0
  const mayWrite = (): boolean => {
    const now = Math.floor(clock() / REFUSALS_WINDOW_MS)
    if (now !== window) [window, written] = [now, 0]
    written += 1
    return written <= MAX_REFUSALS
  }
  return (error, socket) => answerClientError(error, socket, mayWrite)
}

function answerClientError(error: ClientError, socket: Socket, mayWrite: () => boolean): void {
  freePacket(error)
  // Browsers connect ahead of their requests. What is said on a connection that asked nothing would be taken for the
  // answer to a request that is on its way; a connection that closes makes them send it again on another one.
  if (socket.bytesRead === 0) socket.destroy()
  else if (error.code === 'ECONNRESET') socket.destroy()
  else afterAnswers(socket, () => (socket.writable && mayWrite() ? refuse(error, socket) : socket.destroy()))
}

/** Frees the copy at once: a garbage collector that waits would let thousands of them pile up. */
function freePacket({ rawPacket }: ClientError): void {
  if (!(rawPacket instanceof Uint8Array)) return
  const { buffer } = rawPacket
  if (buffer instanceof ArrayBuffer && buffer.byteLength === rawPacket.byteLength) buffer.transfer(0)
}

function refuse(error: ClientError, socket: Socket): void {
  const refusal = malformed(...faultOf(error.code))
  const requestId = randomUUID()
  const body = JSON.stringify(refusal.toBody(requestId))
  const head = [
    `HTTP/1.1 ${refusal.status} Bad Request`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `${REQUEST_ID_HEADER}: ${requestId}`,
    'connection: close',
  ]
  // Whoever is refused may go on sending and never close. What it still sends is not read, and the connection is over
  // as soon as the refusal is sent.
  socket.pause()
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  socket.destroySoon()
}

function faultOf(code: string | undefined): readonly [path: string, message: string] {
  if (code === 'HPE_HEADER_OVERFLOW') return ['headers', 'and path are too large: 8 KB together at most']
  return ['request', code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'did not arrive in time' : 'is not valid HTTP']
}

/**
 * Calls `next` once every request that fully arrived on this connection is answered, or at once when none is waiting.
 */
function afterAnswers(socket: Socket, next: () => void): void {
  const whole = ((socket as AskedSocket)[RESPONSES] ?? []).filter(
    (response) => response.req.complete && !isOver(response),
  )
  let left = whole.length
  if (left === 0) return next()
  for (const response of whole) {
    response.once('close', () => {
      left -= 1
      if (left === 0) next()
    })
  }
}

function isOver(response: ServerResponse): boolean {
  return response.writableFinished || response.destroyed
}

/**
 * Answers an error of the notification routes. These have a shape of their own, except for `RATE_LIMITED`, which is the
 * same everywhere. Only three statuses occur: 400 for a bad request, 401 for missing rights, 500 when the service can't
 * answer now.
 */
export function answerNotificationError(
  error: FastifyError | ApiError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  if (error instanceof ApiError && error.code === 'RATE_LIMITED') return answerError(error, request, reply)
  const { code, message, status } = refusalOf(error, request)
  // Set here too, because an error of the router itself comes before any hook.
  reply.header(REQUEST_ID_HEADER, request.id)
  const body: NotificationError = { error: code, message, success: false }
  reply.code(statusOf(status)).type('application/json; charset=utf-8').send(JSON.stringify(body))
}

/** True when a request that the router itself refused was meant for the notification routes. */
export function isNotificationsPath(url: string): boolean {
  return url.startsWith('/api/notifications/')
}

function statusOf(status: number): number {
  if (status >= 500) return 500
  return status === 401 || status === 403 ? 401 : 400
}
