import type { Json, DocumentObject, Schema, Schemas } from './schemaDescriber.ts'

/** The part of OpenAPI 3.1 that the document of this service uses. */
export interface OpenapiDocument {
  readonly openapi: '3.1.0'
  readonly info: { readonly title: string; readonly version: string; readonly description: string } & DocumentObject
  readonly servers: readonly Json[]
  readonly security: readonly Json[]
  readonly tags: readonly OpenapiTag[]
  /** Operations by path and by method in lower case. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenapiOperation>>>>
  readonly components: OpenapiComponents
}

export interface OpenapiTag {
  readonly name: string
  readonly description: string
}

export interface OpenapiOperation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  /** Names of the security schemes, any one of which is enough. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly (OpenapiParameter | Ref)[]
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  /** Answers by HTTP status. */
  readonly responses: Readonly<Record<string, OpenapiAnswer | Ref>>
}

export interface OpenapiParameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly description?: string
  readonly required?: boolean
  readonly schema: Schema
  readonly example?: unknown
}

export interface OpenapiAnswer {
  readonly description: string
  readonly headers?: Readonly<Record<string, Ref>>
  readonly content: Content
}

/** Schemas by content type, each with an example of a real run. */
export type Content = Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>

export interface OpenapiComponents {
  readonly securitySchemes: Readonly<Record<string, SecurityScheme>>
  readonly parameters: Readonly<Record<string, OpenapiParameter>>
  readonly headers: Readonly<Record<string, { readonly description: string; readonly schema: Schema }>>
  readonly responses: Readonly<Record<string, OpenapiAnswer>>
  readonly schemas: Schemas
}

export interface SecurityScheme {
  readonly type: string
  readonly in: string
  readonly name: string
  readonly description: string
}

/** A pointer into the components of the same document. */
export interface Ref {
  readonly $ref: string
}

/** Returns the name at the end of a reference: `Order` of `#/components/schemas/Order`. */
export function refName(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1)
}

/** Returns the value itself, or the component that it refers to. Throws when there is no such component. */
export function resolveRef<Value extends object>(value: Value | Ref, named: Readonly<Record<string, Value>>): Value {
  if (!('$ref' in value)) return value
  const found = named[refName(value.$ref)]
  if (found === undefined) throw new Error(`the document has no ${value.$ref}`)
  return found
}
