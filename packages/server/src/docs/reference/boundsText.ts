import type { Schema } from './schema.ts'

/** What a schema asks of a value beyond its type. */
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

function rangeText(least: number | undefined, most: number | undefined): string {
  if (least !== undefined && most !== undefined) return `${least} to ${most}`
  if (least !== undefined) return `at least ${least}`
  return most === undefined ? '' : `at most ${most}`
}

function suffixed(text: string, unit: string): string {
  return text === '' ? '' : `${text} ${unit}`
}
