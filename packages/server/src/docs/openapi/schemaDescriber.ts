import type { TSchema } from '@sinclair/typebox'
import { COMPONENTS, type Component } from './components.ts'

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
}

/** Named schemas. */
export type Schemas = Readonly<Record<string, Schema>>

/** Turns the schemas of routes into those of the document, and collects the components that they name. */
export interface SchemaDescriber {
  describe(schema: TSchema): Schema
  /** Returns every component named so far, including those that components name themselves, sorted by name. */
  components(): Schemas
}

type Fields = Readonly<Record<string, unknown>>

/** Keywords that hold a list of schemas. `NESTED_ONES` holds those with a single schema. */
const NESTED_LISTS: ReadonlySet<string> = new Set(['anyOf', 'allOf', 'oneOf'])

const NESTED_ONES: ReadonlySet<string> = new Set(['items', 'additionalProperties', 'not'])

/** The pattern with which TypeBox writes a record with arbitrary keys. */
const ANY_KEY = '^(.*)$'

/**
 * Creates a describer. It recognises a component by its content and not by identity, because making a field optional
 * copies its schema. A schema that is not in the table of components is named by its title, if it has one.
 */
export function createSchemaDescriber(): SchemaDescriber {
  const nameByText = new Map(Object.entries(COMPONENTS).map(([name, { schema }]) => [JSON.stringify(schema), name]))
  const named = new Map<string, Schema>()

  function nameOf(schema: Fields): string | undefined {
    return nameByText.get(JSON.stringify(schema)) ?? (typeof schema.title === 'string' ? schema.title : undefined)
  }

  function describe(schema: Fields): Schema {
    const known = nameOf(schema)
    if (known === undefined) return describeBody(schema)
    if (!named.has(known)) {
      named.set(known, {})
      named.set(known, { ...descriptionOf(COMPONENTS[known]), ...describeBody(schema) })
    }
    return { $ref: `#/components/schemas/${known}` }
  }

  function describeBody(schema: Fields): Schema {
    const choices = literalsOf(schema)
    if (choices !== undefined) return { type: 'string', enum: choices }
    const { type, title: _title, ...rest } = schema
    const entries = Object.entries(rest).map(([key, value]) => describeKeyword(key, value))
    return Object.fromEntries(type === undefined ? entries : [['type', type], ...entries])
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

function descriptionOf(component: Component | undefined): Pick<Schema, 'description'> {
  return component?.description === undefined ? {} : { description: component.description }
}

function mapValues(of: Record<string, Fields>, map: (value: Fields) => Schema): Schemas {
  return Object.fromEntries(Object.entries(of).map(([key, value]) => [key, map(value)]))
}
