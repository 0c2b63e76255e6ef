import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createStreamDocument, type StreamDocumentOptions } from './asyncapi/createStreamDocument.ts'
import { ROUTES } from '../http/routes/registerRoutes.ts'
import { createDocument } from './openapi/createDocument.ts'
import { refuseUnknownRoute } from '../access/answerError.ts'
import { prefersHtml } from '../http/negotiation.ts'
import { sendShared } from '../http/sharedAnswer.ts'
import { createSite, type Site } from './createSite.ts'
import { deploymentOf, type DeploymentOptions } from './reference/deployment.ts'

/** Content security policy: a page loads and runs only files of this service, and turns no text into markup. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** The policy of a page with a form, which sends requests to this service and to nobody else. */
const FORM_POLICY = `${POLICY}; connect-src 'self'`

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
}

/** Cache rule of an address that names the version of its content. */
const IMMUTABLE = 'public, max-age=31536000, immutable'

/**
 * Serves the documentation for people and programs: `/docs`, `/llms.txt`. Nothing is read or made before the first
 * request, and each page is made once.
 */
export function serveDocs(app: FastifyInstance, options: StreamDocumentOptions & DeploymentOptions): void {
  const { headerPrefix } = options
  let made: Site | undefined
  const site = (): Site =>
    (made ??= createSite({
      deployment: deploymentOf(
        options,
        app.addresses().filter((address) => typeof address !== 'string'),
      ),
      documents: { openapi: createDocument(ROUTES, headerPrefix), asyncapi: createStreamDocument(options) },
    }))

  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const [path = '', query] = request.url.split('?')
    const file = site().file(path)
    if (file !== undefined) {
      const { type, body, version, hasForm } = file
      const policy = hasForm ? { 'Content-Security-Policy': FORM_POLICY } : {}
      const cache = query === `v=${version}` ? { cacheControl: IMMUTABLE } : {}
      return sendShared(request, reply.headers({ ...HEADERS, ...policy }), { type, body, ...cache })
    }
    const withoutSlash = path.replace(/\/+$/, '')
    if (withoutSlash !== path && site().file(withoutSlash) !== undefined) return reply.redirect(withoutSlash, 308)
    if (!prefersHtml(request.headers.accept)) return refuseUnknownRoute(request)
    const { type, body } = site().missing()
    return reply.code(404).headers(HEADERS).header('Vary', 'Accept').type(type).send(body)
  }
  for (const path of ['/docs', '/docs/*', '/llms.txt', '/llms-full.txt']) app.get(path, answer)
}
