import { BASE } from '@bezel/protocol'
import type { TSchema } from '@sinclair/typebox'

/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

export type DocumentObject = { readonly [key: string]: Json }

/** A JSON schema, with the keywords that the reference pages show. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly description?: string
  readonly enum?: readonly Json[]
  readonly const?: Json
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly maxItems?: number
  readonly default?: Json
  readonly examples?: readonly unknown[]
}

/** Named schemas. */
export type Schemas = Readonly<Record<string, Schema>>

/** Turns the schemas of routes into those of the document, and collects the components that they name. */
export interface SchemaDescriber {
  describe(schema: TSchema): Schema
  /** Returns every component named so far, including those that components name themselves, sorted by name. */
  components(): Schemas
}

type Fields = Readonly<Record<string, unknown>> & { readonly [BASE]?: unknown }

/** Keywords that hold a list of schemas. `NESTED_ONES` holds those with a single schema. */
const NESTED_LISTS: ReadonlySet<string> = new Set(['anyOf', 'allOf', 'oneOf'])

const NESTED_ONES: ReadonlySet<string> = new Set(['items', 'additionalProperties', 'not'])

/** Keywords that may stand beside a reference, where a field has its own. */
const ANNOTATIONS = ['description', 'default', 'examples'] as const

/** The pattern with which TypeBox writes a record with arbitrary keys. */
const ANY_KEY = '^(.*)$'

/**
 * Creates a describer. A schema with a title is a component of that name. A field that uses it refers to it, with the
 * annotations of its own beside the reference.
 */
export function createSchemaDescriber(): SchemaDescriber {
  const named = new Map<string, Schema>()

  function describe(schema: Fields): Schema {
    const base = (schema[BASE] ?? schema) as Fields
    const name = base.title
    if (typeof name !== 'string') return describeBody(schema)
    if (!named.has(name)) {
      named.set(name, {})
      named.set(name, describeBody(base))
    }
    const own = ANNOTATIONS.filter((key) => schema[key] !== undefined && schema[key] !== base[key])
    return { $ref: `#/components/schemas/${name}`, ...Object.fromEntries(own.map((key) => [key, schema[key]])) }
  }

  function describeBody(schema: Fields): Schema {
    const { type, title: _title, description, anyOf, ...rest } = schema
    const choices = literalsOf(schema)
    const kind = choices === undefined ? { type, anyOf } : { type: 'string', enum: choices }
    const entries = Object.entries({ description, ...kind, ...rest }).filter(([, value]) => value !== undefined)
    return Object.fromEntries(entries.map(([key, value]) => describeKeyword(key, value)))
  }

  function describeKeyword(key: string, value: unknown): [string, unknown] {
    if (key === 'properties') return [key, mapValues(value as Record<string, Fields>, describe)]
    if (key === 'patternProperties') {
      const patterns = value as Record<string, Fields>
      const any = patterns[ANY_KEY]
      return any === undefined ? [key, mapValues(patterns, describe)] : ['additionalProperties', describe(any)]
    }
    if (NESTED_LISTS.has(key)) return [key, (value as Fields[]).map(describe)]
    if (NESTED_ONES.has(key) && typeof value === 'object') return [key, describe(value as Fields)]
    return [key, value]
  }

  return {
    describe,
    components: () => Object.fromEntries([...named].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  }
}

/**
 * Returns the values of a union of string literals, which readers and generators know as an enumeration, else
 * `undefined`.
 */
function literalsOf({ anyOf }: Fields): readonly string[] | undefined {
  if (!Array.isArray(anyOf)) return undefined
  const values = (anyOf as Fields[]).map((choice) => choice.const)
  return values.every((value) => typeof value === 'string') ? values : undefined
}

function mapValues(of: Record<string, Fields>, map: (value: Fields) => Schema): Schemas {
  return Object.fromEntries(Object.entries(of).map(([key, value]) => [key, map(value)]))
}
