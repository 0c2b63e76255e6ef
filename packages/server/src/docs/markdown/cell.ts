/** A text as a cell of a table: on one line, with its bars escaped, and with nothing in it that could be taken for a tag. */
export function cell(text: string): string {
  const parts = text
    .replaceAll(/\s+/g, ' ')
    .trim()
    .split(/(`[^`]*`)/)
  return parts
    .map((part) => (part.startsWith('`') ? part : part.replaceAll('<', '&lt;')))
    .join('')
    .replaceAll('|', String.raw`\|`)
}
