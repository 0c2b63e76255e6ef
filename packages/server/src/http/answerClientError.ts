import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { ApiError } from '@bezel/protocol'
import { REQUEST_ID_HEADER } from '../access/requestId.ts'
import { afterAnswers } from '../access/unanswered.ts'

/**
 * Answers bytes that never became a request (broken HTTP, headers too large, too slow), in the shape of every error. Requests before them on the
 * same connection get their own answers first: a client must not read of its order that it was no valid HTTP.
 */
export function answerClientError(error: { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET') refuse(error, socket)
  else afterAnswers(socket, () => refuse(error, socket))
}

function refuse(error: { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const refusal = new ApiError('VALIDATION_ERROR', messageOf(error.code))
  const body = JSON.stringify(refusal.toBody())
  const head = [
    `HTTP/1.1 ${refusal.status} Bad Request`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `${REQUEST_ID_HEADER}: ${randomUUID()}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

function messageOf(code: string | undefined): string {
  if (code === 'HPE_HEADER_OVERFLOW') return 'The request headers are too large.'
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'The request did not arrive in time.'
  return 'The request is not valid HTTP.'
}
