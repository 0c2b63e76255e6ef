import type { FastifyInstance } from 'fastify'
import { createStreamDocument, type StreamDocumentOptions } from './createStreamDocument.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

/** GET /asyncapi.json: the WebSocket, made from the schemas of its messages. */
export function serveAsyncapi(app: FastifyInstance, options: StreamDocumentOptions): void {
  let text: string | undefined
  app.get('/asyncapi.json', async (_request, reply) => {
    text ??= JSON.stringify(createStreamDocument(options))
    return reply.type(JSON_TYPE).send(text)
  })
}
