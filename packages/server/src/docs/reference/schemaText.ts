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
  // A reference with a meaning of its own beside it.
  if (schema.allOf?.length === 1) return typeText(schema.allOf[0]!, page)
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

/** Joins the remarks about a field or a parameter for one cell, each as a sentence. */
export function notesText(notes: readonly string[]): string {
  return notes
    .map((note) => note.trim().replace(/\.$/, ''))
    .filter((note) => note !== '')
    .map((note) => `${note.charAt(0).toUpperCase()}${note.slice(1)}.`)
    .join(' ')
}

/** Returns an example in words; empty without one. Long texts are cut, because a cell must stay readable. */
function exampleText(example: unknown): string {
  if (example === undefined) return ''
  const text = typeof example === 'string' ? example : JSON.stringify(example)
  return `example \`${text.length > MAX_EXAMPLE_CHARS ? `${text.slice(0, MAX_EXAMPLE_CHARS)}…` : text}\``
}

const MAX_EXAMPLE_CHARS = 44

/** Returns the remarks about a field: its meaning, its bounds, and a default that the meaning does not name. */
export function fieldNotes(schema: Schema, description: string, example: unknown): string[] {
  const { default: _default, ...rest } = schema
  return [description, boundsText(/\bDefault\b/.test(description) ? rest : schema), exampleText(example)]
}

function rowsOf(schema: Schema, path: string, page: string): string[][] {
  const { properties = {}, required = [] } = schema
  return Object.entries(properties).flatMap(([name, field]) => {
    const notes = fieldNotes(field, field.description ?? '', field.examples?.[0])
    if (!required.includes(name)) notes.unshift('optional')
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
