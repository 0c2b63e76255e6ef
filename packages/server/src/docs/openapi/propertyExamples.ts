import { refName } from './openapiDocument.ts'
import type { Schema, Schemas } from './schemaDescriber.ts'

/** The examples of properties, found by walking recorded values along their schemas. */
interface PropertyExamples {
  /** Takes the values of all properties, where a property has none yet. */
  collect(schema: Schema | undefined, value: unknown): void
  /** Returns a copy of a document in which each property has its example. */
  addTo<Document extends object>(document: Document): Document
}

type Fields = Readonly<Record<string, unknown>>

/** Creates an empty collection for the schemas of one document. A property is known by its schema object. */
export function collectExamples(schemas: Schemas): PropertyExamples {
  const examples = new Map<object, unknown>()

  function resolve(schema: Schema): Schema {
    return schema.$ref === undefined ? schema : (schemas[refName(schema.$ref)] ?? {})
  }

  function collect(schema: Schema | undefined, value: unknown): void {
    if (schema === undefined || value === undefined || value === null) return
    const { properties = {}, items, anyOf, additionalProperties } = resolve(schema)
    const choice = anyOf?.find((one) => accepts(one, value))
    if (choice !== undefined) collect(choice, value)
    if (Array.isArray(value)) for (const entry of value) collect(items, entry)
    if (!isFields(value)) return
    for (const [name, inner] of Object.entries(value)) {
      const property = properties[name]
      if (property === undefined && typeof additionalProperties === 'object') collect(additionalProperties, inner)
      if (property === undefined) continue
      const isKnown = examples.has(property) || inner === null
      if (!isKnown && !hasProperties(property)) examples.set(property, inner)
      collect(property, inner)
    }
  }

  /** Returns true when a value has the type of a schema, and the constants and required fields of an object. */
  function accepts(schema: Schema, value: unknown): boolean {
    const { type, enum: choices, const: only, properties = {}, required = [] } = resolve(schema)
    if (only !== undefined) return value === only
    if (choices !== undefined) return (choices as readonly unknown[]).includes(value)
    if (type === 'array') return Array.isArray(value)
    if (type === 'integer' || type === 'number') return typeof value === 'number'
    if (type !== 'object') return typeof value === type
    if (!isFields(value) || required.some((name) => !(name in value))) return false
    return Object.entries(properties).every(
      ([name, of]) => !(name in value) || !isChoice(of) || accepts(of, value[name]),
    )
  }

  /** Returns true when a property consists of properties, which have examples of their own. */
  function hasProperties(schema: Schema): boolean {
    const { properties, items, anyOf = [], additionalProperties } = resolve(schema)
    const inner = [...anyOf, ...(items === undefined ? [] : [items])]
    if (typeof additionalProperties === 'object') inner.push(additionalProperties)
    return properties !== undefined || inner.some(hasProperties)
  }

  function isChoice(schema: Schema): boolean {
    const { enum: choices, const: only } = resolve(schema)
    return choices !== undefined || only !== undefined
  }

  function withOwn(node: unknown): unknown {
    if (Array.isArray(node)) return node.map(withOwn)
    if (typeof node !== 'object' || node === null) return node
    const copy = Object.fromEntries(Object.entries(node).map(([key, inner]) => [key, withOwn(inner)]))
    return examples.has(node) ? { ...copy, examples: [examples.get(node)] } : copy
  }

  return { collect, addTo: (document) => withOwn(document) as typeof document }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
