/** Longest line of an example; a value that fits is kept on one line. */
const MAX_LINE = 88

/** Returns a value as a markdown block of JSON, with as few lines as fit. */
export function jsonBlock(value: unknown): string {
  return `\`\`\`json\n${textOf(value, 0)}\n\`\`\``
}

function textOf(value: unknown, indent: number, before = 0): string {
  const line = lineOf(value)
  if (typeof value !== 'object' || value === null || indent + before + line.length <= MAX_LINE) return line
  const inner = indent + 2
  const pad = ' '.repeat(inner)
  const parts = Array.isArray(value)
    ? value.map((item) => pad + textOf(item, inner))
    : Object.entries(value).map(([key, item]) => `${pad}"${key}": ${textOf(item, inner, key.length + 4)}`)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${parts.join(',\n')}\n${' '.repeat(indent)}${close}`
}

function lineOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(lineOf).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const parts = Object.entries(value).map(([key, item]) => `"${key}": ${lineOf(item)}`)
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`
}
