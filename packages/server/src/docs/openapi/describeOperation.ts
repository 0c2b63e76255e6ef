import { ERRORS, type ErrorCode } from '@bezel/protocol'
import { Type, type TSchema } from '@sinclair/typebox'
import { isFacadePath } from '../../access/facadeRefusal.ts'
import type { OperationRoute } from './collectRoutes.ts'
import type { ErrorResponses } from './errorResponses.ts'
import { describeRefusals } from './facadeRefusals.ts'
import { errorCodesOf, operationEntry, type OperationAccess, type OperationEntry } from './operations.ts'
import { PATH_PARAMETERS, SIGNED_HEADERS, type QueryParameter } from './parameters.ts'
import type { Json, JsonObject, SchemaDescriber } from './schemaDescriber.ts'

/** For an operation the table does not know yet: what can be said of any. */
const UNKNOWN_ENTRY: OperationEntry = { tag: 'System', access: 'public', summary: '', errors: [] }

/** On every answer; not repeated for the errors. */
const ANSWER_HEADERS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'X-Request-Id']

/** What a document is written with: both remember what they named. */
export interface DocumentParts {
  readonly describer: SchemaDescriber
  readonly errors: ErrorResponses
}

/** One operation of the document. */
export function describeOperation(route: OperationRoute, { describer, errors }: DocumentParts): JsonObject {
  const entry = operationEntry(route.operationId) ?? UNKNOWN_ENTRY
  const parameters = parametersOf(route, entry, describer)
  return {
    operationId: route.operationId,
    tags: [entry.tag],
    summary: entry.summary,
    ...securityOf(entry.access),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestBodyOf(route, entry, describer),
    responses: {
      ...Object.fromEntries(errorAnswers(route.url, errorCodesOf(entry, route.url), errors)),
      ...answersOf(route, describer),
    },
  }
}

/** The facade's own are JSON only where the fault is the service's. */
function errorAnswers(
  url: string,
  codes: readonly ErrorCode[],
  errors: ErrorResponses,
): ReadonlyMap<string, JsonObject> {
  if (!isFacadePath(url)) return errors.describe(codes)
  const faults = codes.filter((code) => ERRORS[code].status >= 500)
  return new Map([...describeRefusals(codes.filter((code) => !faults.includes(code))), ...errors.describe(faults)])
}

/** `/v1/:chain/orders` as the document writes it. */
export function documentPath(url: string): string {
  return url.replaceAll(/:(\w+)/g, '{$1}')
}

function securityOf(access: OperationAccess): JsonObject {
  if (access === 'signature') return { security: [{ AgentSignature: [] }] }
  if (access.startsWith('signatureOrKey')) return { security: [{ AgentSignature: [] }, { ApiKey: [] }] }
  return {}
}

function parametersOf(route: OperationRoute, entry: OperationEntry, describer: SchemaDescriber): Json[] {
  const inPath = [...route.url.matchAll(/:(\w+)/g)].map(([, name]) => name!)
  const isSigned = entry.access.startsWith('signature')
  return [
    ...inPath.map((name) => ({
      ...parameter(name, 'path', PATH_PARAMETERS[name] ?? { schema: Type.String(), description: '' }, describer),
      required: true,
    })),
    ...Object.entries({ ...queryOf(route.query), ...entry.query }).map(([name, of]) =>
      parameter(name, 'query', of, describer),
    ),
    ...(isSigned ? Object.keys(SIGNED_HEADERS).map((name) => ({ $ref: `#/components/parameters/${name}` })) : []),
  ]
}

function parameter(name: string, place: string, of: QueryParameter, describer: SchemaDescriber): JsonObject {
  const { description, schema } = of
  return { name, in: place, ...(description === '' ? {} : { description }), schema: describer.describe(schema) }
}

function queryOf(query: TSchema | undefined): Record<string, QueryParameter> {
  const properties = (query?.properties ?? {}) as Record<string, TSchema>
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, { schema, description: schema.description ?? '' }]),
  )
}

function requestBodyOf({ body }: OperationRoute, entry: OperationEntry, describer: SchemaDescriber): JsonObject {
  if (body === undefined) return {}
  return { requestBody: { required: entry.isBodyOptional !== true, content: jsonContent(describer.describe(body)) } }
}

/** A status that the route answers with itself is no error, whatever else it means elsewhere: /ready says 503 in its own shape. */
function answersOf(route: OperationRoute, describer: SchemaDescriber): JsonObject {
  return Object.fromEntries(
    Object.entries(route.responses).map(([status, schema]) => [
      status,
      {
        description: status.startsWith('2') ? 'The answer.' : 'The same shape.',
        headers: headersOf(ANSWER_HEADERS),
        content: jsonContent(describer.describe(schema)),
      },
    ]),
  )
}

function headersOf(names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

function jsonContent(schema: JsonObject): JsonObject {
  return { 'application/json': { schema } }
}
