import { refName } from '../openapi/openapiDocument.ts'
import type { Schema } from '../openapi/schemaDescriber.ts'
import { table } from '../markdown/writeMarkdown.ts'

/**
 * Returns the fields of a schema as a table; fields of nested objects are listed by their path. Empty for a schema
 * without fields.
 */
export function fieldTable(schema: Schema, page: string): string {
  return table(['Field', 'Type', ''], rowsOf(schema, '', page))
}

/**
 * Returns the type of a schema in words, as markdown. Named schemas are links to their section on `page` (empty: the
 * same page).
 */
export function typeText(schema: Schema, page: string): string {
  const { $ref, type, anyOf, items, additionalProperties } = schema
  if ($ref !== undefined) return `[${refName($ref)}](${page}#schema-${refName($ref).toLowerCase()})`
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${String(value)}\``).join(', ')
  if (anyOf !== undefined) {
    // A list comes last, because "list of X or Y" could be read in two ways.
    const choices = anyOf.toSorted((a, b) => Number(a.type === 'array') - Number(b.type === 'array'))
    return choices.map((choice) => typeText(choice, page)).join(' or ')
  }
  if (type === 'array') return `list of ${items === undefined ? 'anything' : typeText(items, page)}`
  if (type === 'object' && typeof additionalProperties === 'object') return 'object by name'
  return type ?? 'anything'
}

/** Returns the rules of a schema beyond its type, in words. */
export function boundsText(schema: Schema): string {
  const { minimum, maximum, minLength, maxLength, maxItems, pattern } = schema
  return [
    rangeText(minimum, maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum),
    suffixed(rangeText(minLength, maxLength), 'characters'),
    suffixed(rangeText(undefined, maxItems), 'entries'),
    pattern === undefined ? '' : `matches \`${pattern}\``,
    schema.default === undefined ? '' : `default \`${String(schema.default)}\``,
  ]
    .filter((text) => text !== '')
    .join(', ')
}

/** Joins the remarks about a field or a parameter for one cell. */
export function notesText(notes: readonly string[]): string {
  return notes
    .map((note) => note.trim().replace(/\.$/, ''))
    .filter((note) => note !== '')
    .join('; ')
}

function rowsOf(schema: Schema, path: string, page: string): string[][] {
  const { properties = {}, required = [] } = schema
  return Object.entries(properties).flatMap(([name, field]) => {
    const notes = [required.includes(name) ? '' : 'optional', field.description ?? '', boundsText(field)]
    const row = [`\`${path}${name}\``, typeText(field, page), notesText(notes)]
    return [row, ...innerRows(field, `${path}${name}`, page)]
  })
}

function innerRows(field: Schema, path: string, page: string): string[][] {
  const { anyOf = [], items, additionalProperties } = field
  return [
    ...rowsOf(field, `${path}.`, page),
    ...(items === undefined ? [] : innerRows(items, `${path}[]`, page)),
    ...(typeof additionalProperties === 'object' ? innerRows(additionalProperties, `${path}.*`, page) : []),
    ...anyOf.flatMap((choice) => innerRows(choice, path, page)),
  ]
}

function rangeText(least: number | undefined, most: number | undefined): string {
  if (least !== undefined && most !== undefined) return `${least} to ${most}`
  if (least !== undefined) return `at least ${least}`
  return most === undefined ? '' : `at most ${most}`
}

function suffixed(text: string, unit: string): string {
  return text === '' ? '' : `${text} ${unit}`
}
