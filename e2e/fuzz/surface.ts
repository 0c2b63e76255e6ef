import type { OpenapiDocument, OpenapiOperation } from '../../packages/server/src/docs/openapi/openapiDocument.ts'

/** The part of JSON Schema that the document uses. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly maxItems?: number
  readonly items?: Schema
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
}

export interface Parameter {
  readonly name: string
  readonly isRequired: boolean
  readonly schema: Schema
}

/** The parts of an operation that requests are made from. */
export interface Operation {
  readonly id: string
  /** The method in upper case. */
  readonly method: string
  /** The path, with `{name}` for parameters. */
  readonly template: string
  readonly path: readonly Parameter[]
  readonly query: readonly Parameter[]
  readonly body: Schema | undefined
  readonly isBodyRequired: boolean
  readonly isPrivate: boolean
  readonly takesApiKey: boolean
}

/** Names of the headers that carry credentials. */
export interface CredentialHeaders {
  readonly agent: string
  readonly timestamp: string
  readonly nonce: string
  readonly signature: string
  readonly apiKey: string
}

/** All operations of the document. */
export interface Surface {
  readonly operations: readonly Operation[]
  readonly headers: CredentialHeaders
  /** Returns the schema that a reference points to, with its name. */
  resolve(schema: Schema): { readonly name: string | undefined; readonly schema: Schema }
  /** Returns the operation of a request line; `undefined` when the document has none. */
  operationAt(method: string, target: string): Operation | undefined
}

const SCHEMAS = '#/components/schemas/'
/** The longest segment that the router takes for a parameter. */
export const MAX_SEGMENT_CHARS = 100

export function readSurface(document: OpenapiDocument): Surface {
  const { components } = document
  const operations = Object.entries(document.paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, raw]) => readOperation(template, method.toUpperCase(), raw)),
  )
  const { AgentHeader, TimestampHeader, NonceHeader } = components.parameters
  const { AgentSignature, ApiKey } = components.securitySchemes
  return {
    operations,
    headers: {
      agent: AgentHeader!.name,
      timestamp: TimestampHeader!.name,
      nonce: NonceHeader!.name,
      signature: AgentSignature!.name,
      apiKey: ApiKey!.name,
    },
    resolve(schema) {
      const name = schema.$ref?.slice(SCHEMAS.length)
      return { name, schema: name === undefined ? schema : components.schemas[name]! }
    },
    operationAt(method, target) {
      const segments = segmentsOf(target)
      const asked = method === 'HEAD' ? 'GET' : method
      return operations.find((operation) => operation.method === asked && matches(operation.template, segments))
    },
  }
}

function readOperation(template: string, method: string, raw: OpenapiOperation): Operation {
  const parameters = (raw.parameters ?? []).filter((parameter) => 'name' in parameter)
  const placed = (place: string): Parameter[] =>
    parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, schema, required = false }) => ({ name, schema, isRequired: required }))
  const security = raw.security ?? []
  return {
    id: raw.operationId,
    method,
    template,
    path: placed('path'),
    query: placed('query'),
    body: raw.requestBody?.content['application/json']!.schema,
    isBodyRequired: raw.requestBody?.required === true,
    isPrivate: security.length > 0,
    takesApiKey: security.some((scheme) => 'ApiKey' in scheme),
  }
}

/** Returns the decoded segments of the path in a request line; `undefined` for one that can't be decoded. */
function segmentsOf(target: string): (string | undefined)[] {
  const path = target.split(/[?#]/, 1)[0]!
  return path.split('/').map((segment) => {
    try {
      return decodeURIComponent(segment)
    } catch {
      return undefined
    }
  })
}

function matches(template: string, segments: readonly (string | undefined)[]): boolean {
  const parts = template.split('/')
  return (
    parts.length === segments.length && parts.every((part, index) => part.startsWith('{') || part === segments[index])
  )
}
