import { refName } from './refName.ts'
import type { Schema } from './schema.ts'

/** What kind of value a schema takes, in words, as markdown. Named schemas are links to their section on `page` (empty: this page). */
export function typeText(schema: Schema, page: string): string {
  const { $ref, type, anyOf, items, additionalProperties } = schema
  if ($ref !== undefined) return `[${refName($ref)}](${page}#schema-${refName($ref).toLowerCase()})`
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${String(value)}\``).join(', ')
  if (anyOf !== undefined) {
    // A list comes last: "list of X or Y" could be read in two ways.
    const choices = anyOf.toSorted((a, b) => Number(a.type === 'array') - Number(b.type === 'array'))
    return choices.map((choice) => typeText(choice, page)).join(' or ')
  }
  if (type === 'array') return `list of ${items === undefined ? 'anything' : typeText(items, page)}`
  if (type === 'object' && typeof additionalProperties === 'object') return 'object by name'
  return type ?? 'anything'
}
