import { table } from '../markdown/table.ts'
import { boundsText } from './boundsText.ts'
import { notesText } from './notesText.ts'
import type { Schema } from './schema.ts'
import { typeText } from './typeText.ts'

/** The fields of a schema as a table; those of objects inside of it stand under their path. Nothing for a schema without fields. */
export function fieldTable(schema: Schema, page: string): string {
  return table(['Field', 'Type', ''], rowsOf(schema, '', page))
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
