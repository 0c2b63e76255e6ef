import type { FastifyReply, FastifyRequest } from 'fastify'

/** One line per request, after its answer. No headers and no body: they carry credentials. */
export async function logAnswer(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { method, url } = request
  request.log.info({ method, url, status: reply.statusCode, elapsedMs: reply.elapsedTime }, 'answered')
}
