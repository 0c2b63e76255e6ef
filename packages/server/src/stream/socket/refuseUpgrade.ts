import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ApiError } from '@bezel/protocol'
import { LIMIT_WINDOW_MS, type LimitAnswer } from '../../access/limits.ts'
import { facadeRefusal } from '../../access/facadeRefusal.ts'
import { REQUEST_ID_HEADER } from '../../access/requestId.ts'

/** What an upgrade that is refused is told beside the error. */
export interface RefusalContext {
  readonly url: string
  readonly requestId: string
  /** What charging the IP said, once that was done. */
  readonly limitAnswer: LimitAnswer | undefined
  readonly nowMs: number
}

/** What is not ready mostly is within moments. */
const NOT_READY_RETRY_S = 1

/** There errors are plain text. */
const FACADE_PREFIX = '/hl/'

/** Answers in HTTP, in the shape of every error at its path, and ends the connection. */
export function refuseUpgrade(socket: Socket, error: ApiError, context: RefusalContext): void {
  if (!socket.writable) return void socket.destroy()
  const { status, type, body } = answerOf(error, context)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `content-type: ${type}; charset=utf-8`,
    `content-length: ${Buffer.byteLength(body)}`,
    `${REQUEST_ID_HEADER}: ${context.requestId}`,
    ...limitHeaders(context.limitAnswer),
    ...retryHeaders(error, context),
    'sec-websocket-version: 13',
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  socket.destroySoon()
}

function answerOf(error: ApiError, { url }: RefusalContext): { status: number; type: string; body: string } {
  if (!url.startsWith(FACADE_PREFIX) || error.status >= 500) {
    return { status: error.status, type: 'application/json', body: JSON.stringify(error.toBody()) }
  }
  const { status, text } = facadeRefusal(error)
  return { status, type: 'text/plain', body: text }
}

function limitHeaders(answer: LimitAnswer | undefined): string[] {
  if (answer === undefined) return []
  return [
    `RateLimit-Limit: ${answer.limit}`,
    `RateLimit-Remaining: ${answer.remaining}`,
    `RateLimit-Reset: ${answer.resetSeconds}`,
  ]
}

function retryHeaders({ code }: ApiError, { limitAnswer, nowMs }: RefusalContext): string[] {
  if (code === 'NOT_READY') return [`Retry-After: ${NOT_READY_RETRY_S}`]
  if (code !== 'RATE_LIMITED') return []
  const untilWindowEndsMs = LIMIT_WINDOW_MS - (nowMs % LIMIT_WINDOW_MS)
  return [`Retry-After: ${limitAnswer?.resetSeconds ?? Math.ceil(untilWindowEndsMs / 1000)}`]
}
