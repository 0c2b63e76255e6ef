import { ApiError, type NotificationError } from '@bezel/protocol'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { answerError, refusalOf } from '../../../access/answerError.ts'
import { REQUEST_ID_HEADER } from '../../../access/requestId.ts'

/**
 * The errors of these routes have a shape of their own, except for the limits, which are the same everywhere. There are three statuses: the
 * request is wrong (400), the caller may not (401), or the service can't now (500).
 */
export function answerNotificationError(
  error: FastifyError | ApiError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  if (error instanceof ApiError && error.code === 'RATE_LIMITED') return answerError(error, request, reply)
  const { code, message, status } = refusalOf(error, request)
  // Set here too: an error of the router itself comes before any hook.
  reply.header(REQUEST_ID_HEADER, request.id)
  const body: NotificationError = { error: code, message, success: false }
  reply.code(statusOf(status)).type('application/json; charset=utf-8').send(JSON.stringify(body))
}

/** Whether a request that the router itself refused was meant for these routes. */
export function isNotificationsPath(url: string): boolean {
  return url.startsWith('/api/notifications/')
}

function statusOf(status: number): number {
  if (status >= 500) return 500
  return status === 401 || status === 403 ? 401 : 400
}
