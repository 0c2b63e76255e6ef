import { plainText } from './plainText.ts'
import type { Style } from './style.ts'

/** One thing, a line for each of its fields. Fields without a value are left out. */
export function formatFields(
  fields: readonly (readonly [string, string | null | undefined])[],
  style: Style,
): string[] {
  const there = fields.filter((field): field is readonly [string, string] => typeof field[1] === 'string')
  const width = Math.max(0, ...there.map(([name]) => name.length))
  return there.map(([name, value]) => `${style.dim(name.padEnd(width))}  ${plainText(value)}`)
}
