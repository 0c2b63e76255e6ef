import { Type } from '@sinclair/typebox'
import { type AnyRoute, JSON_TYPE } from '../../http/route.ts'
import { describeOperation, documentPath, NAMED_TRADER_HEADER, SIGNED_HEADERS } from './describeOperation.ts'
import { createErrorResponses, ErrorSchema } from './errorResponses.ts'
import type { OpenapiComponents, OpenapiDocument, OpenapiOperation, OpenapiTag } from './openapiDocument.ts'
import { createSchemaDescriber, type SchemaDescriber } from './schemaDescriber.ts'
import type { FastifyInstance } from 'fastify'
import { readRecording } from '../recorded/recording.ts'
import { withExamples } from './withExamples.ts'
import { ROUTES } from '../../http/routes/registerRoutes.ts'
import { INTERFACE_VERSION } from '../../http/routes/system/getIndex.ts'
import { sendShared } from '../../http/sharedAnswer.ts'
import { unpooledBytes } from '../../ground/unpooledBytes.ts'
import { SERVER_SETTINGS } from '../../settings/config.ts'

const TAGS: readonly OpenapiTag[] = [
  { name: 'System', description: 'The index, health, readiness, and the chain data that a client needs for signing.' },
  { name: 'Markets', description: 'Public reads of markets, prices, candles and trades.' },
  { name: 'Account', description: 'Private reads of one trader.' },
  { name: 'Orders', description: 'Every write answers with a transaction that the agent signs and sends itself.' },
  {
    name: 'Positions',
    description: 'Closes and changes positions, with transactions that the agent signs and sends itself.',
  },
  {
    name: 'Agents',
    description: "Agents and API keys that may act for a trader. Changes are signed by the trader's master wallet.",
  },
  { name: 'Notifications', description: 'Notifications for a wallet, of all chains together.' },
  {
    name: 'Hyperliquid compatibility',
    description: 'For existing clients of that exchange, which need only another base URL. Refusals are plain text.',
  },
]

const DESCRIPTION = `Non-custodial trading of perpetuals: the service prepares transactions, the agent signs and sends them.

Prices, sizes and rates are decimal strings; times are epoch milliseconds. Every error has one shape. Every answer carries
\`X-Request-Id\` and the RateLimit headers of the limit that is closest to being used up.

Limits count the weight of requests. Every operation weighs 1 with its default parameters; one that can weigh more says so.

Answers that are the same for everybody are compressed for clients that ask for it (\`Accept-Encoding\` with \`br\` or \`gzip\`). Where a 304 is listed, they carry an
\`ETag\`: send it in \`If-None-Match\` to be told that nothing has changed.`

const LICENSE = { name: 'MIT', identifier: 'MIT' }

interface ServeOpenapiOptions {
  readonly headerPrefix: string
  /** Routes to describe. Default: every operation. */
  readonly routes?: readonly AnyRoute[]
}

/** Serves GET /openapi.json, the document of the REST interface. */
export function serveOpenapi(app: FastifyInstance, { headerPrefix, routes = ROUTES }: ServeOpenapiOptions): void {
  let body: Buffer | undefined
  app.get('/openapi.json', (request, reply) => {
    body ??= unpooledBytes(JSON.stringify(createDocument(routes, headerPrefix)))
    return sendShared(request, reply, { type: JSON_TYPE, body })
  })
}

/** Creates the document of a deployment with default settings, as committed in docs/reference. */
export function referenceDocument(): OpenapiDocument {
  return createDocument(ROUTES, SERVER_SETTINGS.BEZEL_HEADER_PREFIX.defaultValue)
}

/** Creates the OpenAPI document of these routes, for a deployment whose credential headers have this prefix. */
export function createDocument(routes: readonly AnyRoute[], headerPrefix: string): OpenapiDocument {
  const describer = createSchemaDescriber()
  const errors = createErrorResponses()
  // The error answers refer to this schema by name, so it must be in the document.
  describer.describe(ErrorSchema)
  const paths: Record<string, Record<string, OpenapiOperation>> = {}
  for (const route of routes) {
    const path = (paths[documentPath(route.path)] ??= {})
    path[route.method.toLowerCase()] = describeOperation(route, { describer, errors })
  }
  const parameters = signedHeaderParameters(headerPrefix, describer)
  const document: OpenapiDocument = {
    openapi: '3.1.0',
    info: { title: 'Bezel Trading API', version: INTERFACE_VERSION, description: DESCRIPTION, license: LICENSE },
    servers: [{ url: '/' }],
    security: [],
    tags: TAGS,
    paths,
    components: {
      securitySchemes: securitySchemes(headerPrefix),
      parameters,
      headers: headersOf(describer),
      responses: errors.components(),
      schemas: describer.components(),
    },
  }
  return withExamples(document, readRecording())
}

/**
 * Describes the credentials. A scheme can name only one header, so the other three of a signed request are parameters.
 */
function securitySchemes(prefix: string): OpenapiComponents['securitySchemes'] {
  const others = Object.values(SIGNED_HEADERS).map(({ suffix }) => `\`${prefix}${suffix}\``)
  return {
    AgentSignature: {
      type: 'apiKey',
      in: 'header',
      name: `${prefix}Signature`,
      description: [
        `EIP-712 signature of the agent, sent together with ${others.join(', ')}.`,
        'The primary type is the operation id. The struct is method, path (with query, as sent), bodyHash (keccak256 of the exact bytes of the body),',
        'timestamp, nonce. `GET /v1/{chain}` answers with the domain and the fields.',
      ].join(' '),
    },
    ApiKey: {
      type: 'apiKey',
      in: 'header',
      name: `${prefix}Api-Key`,
      description: 'A read-only key of the trader, from `POST /v1/{chain}/api-keys`.',
    },
  }
}

function signedHeaderParameters(prefix: string, describer: SchemaDescriber): OpenapiComponents['parameters'] {
  return Object.fromEntries(
    Object.entries({ ...SIGNED_HEADERS, ...NAMED_TRADER_HEADER }).map(([name, { suffix, schema, description }]) => [
      name,
      { name: prefix + suffix, in: 'header', description, schema: describer.describe(schema) },
    ]),
  )
}

function headersOf(describer: SchemaDescriber): OpenapiComponents['headers'] {
  const count = describer.describe(Type.Integer({ minimum: 0 }))
  const id = describer.describe(Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$' }))
  return {
    Location: {
      description: 'Path of what was created, on the same host: read it there.',
      schema: describer.describe(Type.String()),
    },
    'RateLimit-Limit': {
      description: 'Weight of the requests per minute that the limit closest to being used up allows.',
      schema: count,
    },
    'RateLimit-Remaining': { description: 'Weight left of that limit in this window.', schema: count },
    'RateLimit-Reset': { description: 'Seconds until the window ends.', schema: count },
    'Retry-After': { description: 'Seconds to wait before the next attempt.', schema: count },
    ETag: {
      description: 'Tag of the answer, for `If-None-Match`. It is weak: the same in every compression.',
      schema: describer.describe(Type.String({ pattern: '^W/"[\\w-]+"$' })),
    },
    'X-Request-Id': {
      description: "Id of the request: the caller's own, or a fresh one. Quote it in reports.",
      schema: id,
    },
  }
}
