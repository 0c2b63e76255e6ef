/** Returns a markdown table; an empty text when it has no rows. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return ''
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

/**
 * Returns a text as a cell of a table: on one line, with its bars escaped, and with nothing in it that could be read as
 * a tag.
 */
function cell(text: string): string {
  const parts = text
    .replaceAll(/\s+/g, ' ')
    .trim()
    .split(/(`[^`]*`)/)
  return parts
    .map((part) => (part.startsWith('`') ? part : part.replaceAll('<', '&lt;')))
    .join('')
    .replaceAll('|', String.raw`\|`)
}

/** Matches code blocks and code spans, in which links are not rewritten. */
const CODE = /(^```[\s\S]*?^```|`[^`\n]*`)/m

const TARGET = /\]\(([^()\s]+)\)/g

/** Replaces the targets of a page's links; those for which `urlOf` returns `undefined` stay. */
export function rewriteLinks(markdown: string, urlOf: (href: string) => string | undefined): string {
  return markdown
    .split(new RegExp(CODE, 'gm'))
    .map((part, index) =>
      // Every second part is code, because the pattern captures it.
      index % 2 === 1 ? part : part.replaceAll(TARGET, (_link, href: string) => `](${urlOf(href) ?? href})`),
    )
    .join('')
}
