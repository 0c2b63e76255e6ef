import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createStreamDocument, type StreamDocumentOptions } from './asyncapi/createStreamDocument.ts'
import { ROUTES } from '../http/routes/registerRoutes.ts'
import { createDocument } from './openapi/createDocument.ts'
import { refuseUnknownRoute } from '../access/answerError.ts'
import { createSite, type Site, type SiteFile } from './createSite.ts'

/** Content security policy: the pages load only what this service serves, and only the one script runs. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
}

/** Cache rule of an address without a version: revalidated each time, mostly answered with 304. */
const REVALIDATED = 'public, no-cache'

/** Cache rule of an address that names the version of its content. */
const IMMUTABLE = 'public, max-age=31536000, immutable'

/**
 * Serves the documentation for people and programs: `/docs`, `/llms.txt`. Nothing is read or made before the first
 * request, and each page is made once.
 */
export function serveDocs(app: FastifyInstance, options: StreamDocumentOptions): void {
  const { headerPrefix } = options
  let made: Site | undefined
  const site = (): Site =>
    (made ??= createSite({
      headerPrefix,
      documents: { openapi: createDocument(ROUTES, headerPrefix), asyncapi: createStreamDocument(options) },
    }))

  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const [path = '', query] = request.url.split('?')
    const file = site().file(path)
    if (file !== undefined) return send(file, query, request, reply)
    const withoutSlash = path.replace(/\/+$/, '')
    if (withoutSlash !== path && site().file(withoutSlash) !== undefined) return reply.redirect(withoutSlash, 308)
    if (!wantsHtml(request)) return refuseUnknownRoute(request)
    const { type, body } = site().missing()
    return reply.code(404).headers(HEADERS).header('Vary', 'Accept').type(type).send(body)
  }
  for (const path of ['/docs', '/docs/*', '/llms.txt', '/llms-full.txt']) app.get(path, answer)

  // A browser is led to the documentation; for programs there is nothing at this path.
  app.get('/', async (request, reply) => {
    reply.header('Vary', 'Accept')
    return wantsHtml(request) ? reply.redirect('/docs', 302) : refuseUnknownRoute(request)
  })
}

function send(file: SiteFile, query: string | undefined, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const etag = `"${file.version}"`
  reply
    .headers(HEADERS)
    .header('ETag', etag)
    .header('Cache-Control', query === `v=${file.version}` ? IMMUTABLE : REVALIDATED)
  if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
  return reply.type(file.type).send(file.body)
}

/** True when the client already has this version. A proxy that compresses turns the tag into a weak one (`W/`). */
function isKnown(header: string | undefined, etag: string): boolean {
  const tags = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}

function wantsHtml({ headers }: FastifyRequest): boolean {
  return /\btext\/html\b/.test(headers.accept ?? '')
}
