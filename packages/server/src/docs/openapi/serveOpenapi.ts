import type { FastifyInstance } from 'fastify'
import { collectRoutes } from './collectRoutes.ts'
import { createDocument } from './createDocument.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

/** GET /openapi.json: the interface, made from the routes themselves. To be called before they are registered. */
export function serveOpenapi(app: FastifyInstance, { headerPrefix }: { readonly headerPrefix: string }): void {
  const routes = collectRoutes(app)
  let text: string | undefined
  app.get('/openapi.json', async (_request, reply) => {
    text ??= JSON.stringify(createDocument(routes, headerPrefix))
    return reply.type(JSON_TYPE).send(text)
  })
}
