import { Type } from '@sinclair/typebox'
import type { OperationRoute } from './collectRoutes.ts'
import { ErrorSchema } from './components.ts'
import { describeOperation, documentPath } from './describeOperation.ts'
import { createErrorResponses } from './errorResponses.ts'
import { SIGNED_HEADERS } from './parameters.ts'
import { createSchemaDescriber, type Json, type JsonObject, type SchemaDescriber } from './schemaDescriber.ts'

/** An OpenAPI 3.1 document. */
export interface OpenapiDocument {
  readonly openapi: '3.1.0'
  readonly info: JsonObject
  readonly servers: readonly Json[]
  readonly security: readonly Json[]
  readonly tags: readonly Json[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>
  readonly components: JsonObject
}

/** Of the interface, not of the program. */
const INTERFACE_VERSION = '1.0.0'

const TAGS = [
  { name: 'System', description: 'Is it alive, is it ready, and what must be known to sign.' },
  { name: 'Markets', description: 'Public reads.' },
  { name: 'Account', description: 'Private reads of one trader.' },
  { name: 'Orders', description: 'Every write answers with a transaction that the agent signs and sends itself.' },
  { name: 'Positions', description: 'Closing and changing positions.' },
  { name: 'Agents', description: 'Who may act for a trader. Signed by the master wallet.' },
  { name: 'Notifications', description: 'What a wallet should know, of all chains together.' },
  {
    name: 'Hyperliquid compatibility',
    description:
      'For existing clients of that exchange, which need another base URL and nothing else. Refusals are plain text.',
  },
]

const DESCRIPTION = `Non-custodial trading of perpetuals: the service prepares transactions, the agent signs and sends them.

Prices, sizes and rates are decimal strings; times are epoch milliseconds. Every error has one shape. Every answer carries the
RateLimit headers of its tightest bucket and \`X-Request-Id\`.`

/** The document of these routes, for a deployment whose credentials are in headers with this prefix. */
export function createDocument(routes: readonly OperationRoute[], headerPrefix: string): OpenapiDocument {
  const describer = createSchemaDescriber()
  const errors = createErrorResponses()
  // Named by hand in the answers of errors.
  describer.describe(ErrorSchema)
  const paths: Record<string, Record<string, JsonObject>> = {}
  for (const route of routes) {
    const path = (paths[documentPath(route.url)] ??= {})
    path[route.method.toLowerCase()] = describeOperation(route, { describer, errors })
  }
  const parameters = signedHeaderParameters(headerPrefix, describer)
  return {
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
}

const LICENSE = { name: 'MIT', identifier: 'MIT' }

/** A scheme names one header; the three others of a signed request are parameters. */
function securitySchemes(prefix: string): JsonObject {
  const others = Object.values(SIGNED_HEADERS).map(({ suffix }) => `\`${prefix}${suffix}\``)
  return {
    AgentSignature: {
      type: 'apiKey',
      in: 'header',
      name: `${prefix}Signature`,
      description: [
        `EIP-712 signature of the agent, sent together with ${others.join(', ')}.`,
        'Primary type: the operation id. Struct: method, path (with query, as sent), bodyHash (keccak256 of the exact bytes of the body),',
        'timestamp, nonce. Domain and fields: `GET /v1/{chain}`.',
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

function signedHeaderParameters(prefix: string, describer: SchemaDescriber): JsonObject {
  return Object.fromEntries(
    Object.entries(SIGNED_HEADERS).map(([name, { suffix, schema, description }]) => [
      name,
      { name: prefix + suffix, in: 'header', description, schema: describer.describe(schema) },
    ]),
  )
}

function headersOf(describer: SchemaDescriber): JsonObject {
  const count = describer.describe(Type.Integer({ minimum: 0 }))
  const id = describer.describe(Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$' }))
  return {
    'RateLimit-Limit': { description: 'Requests a minute of the tightest bucket that applied.', schema: count },
    'RateLimit-Remaining': { description: 'What is left of it in this window.', schema: count },
    'RateLimit-Reset': { description: 'Seconds until the window ends.', schema: count },
    'Retry-After': { description: 'Seconds to wait before the next try.', schema: count },
    'X-Request-Id': { description: "The request's own id, or a fresh one; quote it in reports.", schema: id },
  }
}
