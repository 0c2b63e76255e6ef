import { ERRORS, type ErrorCode, AddressSchema, ChainSlugSchema, IdSchema } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import { TRADER_HEADER } from '../../access/signatureHeaders.ts'
import { isFacadePath } from '../../access/answerError.ts'
import { ACCESS_ERRORS } from '../../http/hooks/registerRoute.ts'
import type { QueryParameter } from '../../http/parameters.ts'
import { weightRule, type AnyRoute, type RouteAccess } from '../../http/route.ts'
import { describeRefusals, type ErrorResponses } from './errorResponses.ts'
import type { Content, OpenapiAnswer, OpenapiOperation, OpenapiParameter, Ref } from './openapiDocument.ts'
import type { Schema, SchemaDescriber } from './schemaDescriber.ts'

/** The shared parts of a document. Both collect the components that were named. */
export interface DocumentParts {
  readonly describer: SchemaDescriber
  readonly errors: ErrorResponses
}

/** Error codes that every operation can answer with. */
const ALWAYS: readonly ErrorCode[] = ['RATE_LIMITED', 'INTERNAL']

/**
 * The security schemes of each kind of access, any one of which is enough. Signatures inside a body are not among them.
 */
const SCHEMES: Readonly<Record<RouteAccess, readonly string[]>> = {
  public: [],
  read: ['AgentSignature', 'ApiKey'],
  write: ['AgentSignature'],
  owner: ['AgentSignature', 'ApiKey'],
  wallet: ['AgentSignature'],
  walletOrAgent: ['AgentSignature'],
  master: [],
  envelope: [],
}

/** Path parameters by name. */
const PATH_PARAMETERS: Readonly<Record<string, QueryParameter>> = {
  chain: { schema: ChainSlugSchema, description: 'Name of the chain.' },
  symbol: { schema: Type.String(), description: 'Symbol of the market, written `BTC-USD` or `BTC%2FUSD`.' },
  address: { schema: AddressSchema, description: 'Address of the account or the agent.' },
  label: { schema: Type.String(), description: 'Label of the API key, percent-encoded.' },
  id: { schema: IdSchema, description: 'Id of the order or the position.' },
}

/** The headers that accompany the signature, by the name of their component. */
export const SIGNED_HEADERS = {
  AgentHeader: { suffix: 'Agent', schema: AddressSchema, description: 'Address of the agent that signed.' },
  TimestampHeader: {
    suffix: 'Timestamp',
    schema: Type.String({ pattern: '^(?:0|[1-9]\\d{0,15})$' }),
    description: 'Time of the request in epoch milliseconds, as signed; within 30 s of server time.',
  },
  NonceHeader: {
    suffix: 'Nonce',
    schema: Type.String({ pattern: '^(?:0|[1-9]\\d{0,77})$' }),
    description: 'A whole number that this agent never used before, as signed.',
  },
} as const

/** The header that names the account a caller means, beside a signature or a key. */
export const NAMED_TRADER_HEADER = {
  TraderHeader: {
    suffix: TRADER_HEADER,
    schema: AddressSchema,
    description:
      'Address of the trader whose account is meant. When the credentials belong to another one: 403 TRADER_MISMATCH. Optional and not signed; it guards against a mix-up of keys.',
  },
} as const

/** Headers of every answer. They are not repeated for the errors. */
const ANSWER_HEADERS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'X-Request-Id']

/** Describes one operation. */
export function describeOperation(route: AnyRoute, { describer, errors }: DocumentParts): OpenapiOperation {
  const { operationId, tag, summary, access } = route
  const description = descriptionOf(route)
  const parameters = parametersOf(route, describer)
  const security = SCHEMES[access].map((scheme) => ({ [scheme]: [] }))
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description === '' ? {} : { description }),
    ...(security.length === 0 ? {} : { security }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestBodyOf(route, describer),
    responses: { ...Object.fromEntries(errorAnswers(route, errors)), ...answersOf(route, describer) },
  }
}

/** Returns the description of an operation beyond its summary: its own sentences, and the rule of its weight. */
function descriptionOf(route: AnyRoute): string {
  const rule = weightRule(route)
  return [route.description ?? '', rule === undefined ? '' : `It weighs ${rule.words}.`].filter(Boolean).join(' ')
}

/** Turns the path of a route (`/v1/:chain`) into that of the document (`/v1/{chain}`). */
export function documentPath(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}')
}

/**
 * Returns the error answers by status. Those of the facade are plain text, except for faults of the service (5xx),
 * which are JSON.
 */
function errorAnswers(route: AnyRoute, errors: ErrorResponses): ReadonlyMap<string, OpenapiAnswer | Ref> {
  const codes = errorCodesOf(route)
  if (!isFacadePath(route.path)) return errors.describe(codes)
  const faults = codes.filter((code) => ERRORS[code].status >= 500)
  return new Map([...describeRefusals(codes.filter((code) => !faults.includes(code))), ...errors.describe(faults)])
}

/** Returns every code an operation may answer with. */
function errorCodesOf({ path, access, errors }: AnyRoute): readonly ErrorCode[] {
  const isOfChain = path.startsWith('/v1/:chain') || isFacadePath(path)
  const ofPath: readonly ErrorCode[] = isOfChain ? ['VALIDATION_ERROR', 'CHAIN_NOT_FOUND'] : []
  return [...new Set([...ofPath, ...ACCESS_ERRORS[access], ...errors, ...ALWAYS])]
}

function parametersOf({ path, query = {}, access }: AnyRoute, describer: SchemaDescriber): (OpenapiParameter | Ref)[] {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!)
  const isSigned = SCHEMES[access].includes('AgentSignature')
  return [
    ...inPath.map((name) => ({
      ...parameter(name, 'path', PATH_PARAMETERS[name] ?? { schema: Type.String(), description: '' }, describer),
      required: true,
    })),
    ...Object.entries(query).map(([name, of]) => parameter(name, 'query', of, describer)),
    ...(isSigned
      ? Object.keys({ ...SIGNED_HEADERS, ...NAMED_TRADER_HEADER }).map((name) => ({
          $ref: `#/components/parameters/${name}`,
        }))
      : []),
  ]
}

function parameter(
  name: string,
  place: OpenapiParameter['in'],
  { description, schema, isRequired = false }: QueryParameter,
  describer: SchemaDescriber,
): OpenapiParameter {
  return {
    name,
    in: place,
    ...(description === '' ? {} : { description }),
    ...(isRequired ? { required: true } : {}),
    schema: describer.describe(schema),
  }
}

function requestBodyOf(
  { body, isBodyOptional }: AnyRoute,
  describer: SchemaDescriber,
): Pick<OpenapiOperation, 'requestBody'> {
  if (body === undefined) return {}
  return { requestBody: { required: isBodyOptional !== true, content: jsonContent(describer.describe(body)) } }
}

/**
 * Returns the answers that the route declares itself. They replace an error answer of the same status: /ready answers
 * 503 in its own shape.
 */
function answersOf({ responses, bodiless = {} }: AnyRoute, describer: SchemaDescriber): OpenapiOperation['responses'] {
  const names = 304 in bodiless ? [...ANSWER_HEADERS, 'ETag'] : ANSWER_HEADERS
  const headers = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
  const location = { Location: { $ref: '#/components/headers/Location' } }
  const own = Object.entries(responses).map(([status, schema]): [string, OpenapiAnswer] => [
    status,
    {
      description: schema.description ?? 'The answer.',
      headers: status === '201' ? { ...location, ...headers } : headers,
      content: jsonContent(describer.describe(schema)),
    },
  ])
  const others = Object.entries(bodiless).map(([status, description]): [string, OpenapiAnswer] => [
    status,
    { description, headers, content: {} },
  ])
  return Object.fromEntries([...own, ...others])
}

function jsonContent(schema: Schema): Content {
  return { 'application/json': { schema } }
}
