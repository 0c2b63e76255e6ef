import type { FastifyReply, FastifyRequest } from 'fastify'

/** One line per request, after its answer. No headers and no body: they carry credentials. */
export function logAnswer(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const { id: requestId, method, url } = request
  const { statusCode: status, elapsedTime: elapsedMs } = reply
  request.log.info({ requestId, method, url, status, elapsedMs }, 'answered')
  done()
}
