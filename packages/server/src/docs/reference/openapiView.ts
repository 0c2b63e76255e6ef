import type { OpenapiDocument } from '../openapi/createDocument.ts'
import type { Schema, Schemas } from './schema.ts'

/** A parameter of an operation, written out. */
export interface ParameterView {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly description?: string
  readonly required?: boolean
  readonly schema: Schema
}

/** An answer of an operation, written out. */
export interface AnswerView {
  readonly description: string
  /** The schema by content type. */
  readonly content: Readonly<Record<string, { readonly schema: Schema & { readonly allOf?: readonly Schema[] } }>>
}

/** An operation with what it refers to put in its place. */
export interface OperationView {
  readonly operationId: string
  readonly tag: string
  readonly method: string
  readonly path: string
  readonly summary: string
  /** Names of the security schemes, any of which will do. */
  readonly security: readonly string[]
  readonly parameters: readonly ParameterView[]
  readonly body: { readonly required: boolean; readonly schema: Schema } | undefined
  readonly answers: Readonly<Record<string, AnswerView>>
}

/** The part of an OpenAPI document that the reference tells. */
export interface OpenapiView {
  readonly title: string
  readonly description: string
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly operations: readonly OperationView[]
  readonly schemes: Readonly<Record<string, { readonly name: string; readonly description: string }>>
  readonly schemas: Schemas
}

interface RawOperation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly security?: readonly Readonly<Record<string, unknown>>[]
  readonly parameters?: readonly (ParameterView & { readonly $ref?: string })[]
  readonly requestBody?: {
    readonly required: boolean
    readonly content: { readonly 'application/json': { readonly schema: Schema } }
  }
  readonly responses: Readonly<Record<string, AnswerView & { readonly $ref?: string }>>
}

/** Reads a document of ours: what it can hold beyond that, it does not. */
export function openapiView(document: OpenapiDocument): OpenapiView {
  const resolve = <Value extends { readonly $ref?: string }>(value: Value): Value =>
    value.$ref === undefined ? value : (at(document, value.$ref) as Value)
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]): OperationView => {
      const operation = raw as unknown as RawOperation
      const { operationId, tags, summary, security = [], parameters = [], requestBody, responses } = operation
      return {
        operationId,
        tag: tags[0] ?? '',
        method: method.toUpperCase(),
        path,
        summary,
        security: security.flatMap((scheme) => Object.keys(scheme)),
        parameters: parameters.map(resolve),
        body: requestBody && {
          required: requestBody.required,
          schema: requestBody.content['application/json'].schema,
        },
        answers: Object.fromEntries(Object.entries(responses).map(([status, answer]) => [status, resolve(answer)])),
      }
    }),
  )
  const { title, description } = document.info
  return {
    title: String(title),
    description: String(description),
    tags: document.tags as unknown as OpenapiView['tags'],
    operations,
    schemes: document.components.securitySchemes as unknown as OpenapiView['schemes'],
    schemas: document.components.schemas as unknown as Schemas,
  }
}

function at(document: OpenapiDocument, ref: string): unknown {
  const keys = ref.split('/').slice(1)
  return keys.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], document)
}
