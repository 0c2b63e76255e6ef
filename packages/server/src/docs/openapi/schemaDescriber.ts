import type { TSchema } from '@sinclair/typebox'
import { COMPONENTS, type Component } from './components.ts'

/** A value of the document. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }
export type JsonObject = { readonly [key: string]: Json }

/** Turns schemas of routes into those of the document, and remembers which components they named. */
export interface SchemaDescriber {
  describe(schema: TSchema): JsonObject
  /** Every component named so far, with what those name themselves; sorted. */
  components(): JsonObject
}

type Fields = Readonly<Record<string, unknown>>

/** What holds further schemas, by how it holds them. */
const NESTED_LISTS: ReadonlySet<string> = new Set(['anyOf', 'allOf', 'oneOf'])
const NESTED_ONES: ReadonlySet<string> = new Set(['items', 'additionalProperties', 'not'])

/** How TypeBox writes a record with any text as its keys. */
const ANY_KEY = '^(.*)$'

/**
 * Schemas are known again by what they say and not by identity: making a field optional copies its schema. One that is not in the table
 * of components is named by its title, if it has one.
 */
export function createSchemaDescriber(): SchemaDescriber {
  const nameByText = new Map(Object.entries(COMPONENTS).map(([name, { schema }]) => [JSON.stringify(schema), name]))
  const named = new Map<string, JsonObject>()

  function nameOf(schema: Fields): string | undefined {
    return nameByText.get(JSON.stringify(schema)) ?? (typeof schema.title === 'string' ? schema.title : undefined)
  }

  function describe(schema: Fields): JsonObject {
    const known = nameOf(schema)
    if (known === undefined) return describeBody(schema)
    if (!named.has(known)) {
      named.set(known, {})
      named.set(known, { ...descriptionOf(COMPONENTS[known]), ...describeBody(schema) })
    }
    return { $ref: `#/components/schemas/${known}` }
  }

  function describeBody(schema: Fields): JsonObject {
    const choices = literalsOf(schema)
    if (choices !== undefined) return { type: 'string', enum: choices }
    const { type, title: _title, ...rest } = schema
    const entries = Object.entries(rest).map(([key, value]) => describeKeyword(key, value))
    return Object.fromEntries(type === undefined ? entries : [['type', type as Json], ...entries])
  }

  function describeKeyword(key: string, value: unknown): [string, Json] {
    if (key === 'properties') return [key, mapValues(value as Record<string, Fields>, describe)]
    if (key === 'patternProperties') {
      const patterns = value as Record<string, Fields>
      const any = patterns[ANY_KEY]
      return any === undefined ? [key, mapValues(patterns, describe)] : ['additionalProperties', describe(any)]
    }
    if (NESTED_LISTS.has(key)) return [key, (value as Fields[]).map(describe)]
    if (NESTED_ONES.has(key) && typeof value === 'object') return [key, describe(value as Fields)]
    return [key, value as Json]
  }

  return {
    describe: (schema) => describe(schema as unknown as Fields),
    components: () => Object.fromEntries([...named].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  }
}

/** The texts of a union of nothing but texts, which readers and generators know as an enumeration. */
function literalsOf({ anyOf }: Fields): readonly string[] | undefined {
  if (!Array.isArray(anyOf)) return undefined
  const values = (anyOf as Fields[]).map((choice) => choice.const)
  return values.every((value) => typeof value === 'string') ? values : undefined
}

function descriptionOf(component: Component | undefined): JsonObject {
  return component?.description === undefined ? {} : { description: component.description }
}

function mapValues(of: Record<string, Fields>, map: (value: Fields) => Json): JsonObject {
  return Object.fromEntries(Object.entries(of).map(([key, value]) => [key, map(value)]))
}
