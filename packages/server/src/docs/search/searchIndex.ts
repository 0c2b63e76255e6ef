/** A rendered page, as the index reads it. */
export interface SearchedPage {
  readonly title: string
  readonly url: string
  readonly html: string
  /** Returns the address of a section that has a page of its own; `undefined` for the others. */
  readonly ownPageOf?: (heading: string) => string | undefined
}

/** The kinds of entries. A match in the name of an earlier kind comes first, one in a text last. */
const KINDS = { title: 0, heading: 1, field: 2 } as const

/**
 * The index of all pages, as the script of the search takes it: the pages, and for each title, heading and field its
 * kind, the number of its page, its name, its address and its text. An address that begins with `#` is on the page.
 */
export interface SearchIndex {
  readonly pages: readonly (readonly [title: string, url: string])[]
  readonly entries: readonly SearchEntry[]
}

type SearchEntry = readonly [kind: number, page: number, name: string, address: string, text: string]

/** Parameters that nearly every operation has. Finding them all would hide the rest. */
const EVERYWHERE = new Set(['chain'])

/** Headings that are the name of something: a schema, an error code, an operation or a message. */
const NAMED = /^(?:Schema: \w+|[A-Z_]{4,}|[a-z]+(?:[A-Z]\w+)+)$/

/** Text between the section of a field and the words about it. */
const DOT = ' · '

const HEADING = /<h([1-4]) id="([^"]*)">([\s\S]*?)<\/h\1>/g

const ROW = /<tr id="([^"]*)">\s*<td>([\s\S]*?)<\/td>([\s\S]*?)<\/tr>/g

/** Builds the index from the pages as they are shown. Code blocks are left out: they repeat what the texts say. */
export function searchIndex(pages: readonly SearchedPage[]): SearchIndex {
  return {
    pages: pages.map(({ title, url }) => [title, url] as const),
    entries: withoutRepeats(
      pages.flatMap((page, number) => sectionsOf(page.html).flatMap((section) => entriesOf(section, page, number))),
    ),
  }
}

/** Leaves out a field that an earlier section has in the same words: the body of a request is also a schema. */
function withoutRepeats(entries: readonly SearchEntry[]): readonly SearchEntry[] {
  const known = new Set<string>()
  return entries.filter(([kind, page, name, , text]) => {
    const words = `${page} ${name} ${text.slice(text.indexOf(DOT))}`
    const isRepeated = kind === KINDS.field && known.has(words)
    known.add(words)
    return !isRepeated
  })
}

interface Section {
  readonly depth: number
  readonly id: string
  readonly name: string
  readonly html: string
}

function sectionsOf(html: string): Section[] {
  const shown = html.replaceAll(/<pre[\s>][\s\S]*?<\/pre>|<svg[\s>][\s\S]*?<\/svg>|<figcaption>.*?<\/figcaption>/g, ' ')
  const found = [...shown.matchAll(HEADING)]
  return found.map((match, at) => {
    const [whole, depth, id, inner] = match
    const end = found[at + 1]?.index ?? shown.length
    const name = plainText(inner!.replace(/<a class="anchor"[\s\S]*$/, ''))
    return { depth: Number(depth), id: id!, name, html: shown.slice(match.index + whole.length, end) }
  })
}

function entriesOf({ depth, id, name, html }: Section, page: SearchedPage, number: number): SearchEntry[] {
  const own = page.ownPageOf?.(name)
  const isTitle = depth === 1 || own !== undefined || NAMED.test(name)
  const anchor = depth === 1 ? '' : `#${id}`
  const fields = [...html.matchAll(ROW)].flatMap(([, row, first, rest]): SearchEntry[] => {
    const field = plainText(first!)
    return EVERYWHERE.has(field) ? [] : [[KINDS.field, number, field, `${own ?? ''}#${row}`, fieldText(name, rest!)]]
  })
  const text = plainText(html.replaceAll(ROW, ' '))
  return [[isTitle ? KINDS.title : KINDS.heading, number, name, own ?? anchor, text], ...fields]
}

/** Returns the text of a field's row, after the name of the section that it belongs to and a dot. */
function fieldText(section: string, cells: string): string {
  const text = plainText(cells.replaceAll(/Example <code>[\s\S]*?<\/code>\./g, '').replaceAll('</td>', ' '))
  return `${section}${DOT}${text}`
}

const ENTITY_TEXTS: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
}

function plainText(html: string): string {
  return html
    .replaceAll(/<[^>]*>/g, (tag) => (/^<\/?(?:p|li|td|th|tr|h\d|div|table|ul|ol|br)\b/.test(tag) ? ' ' : ''))
    .replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => ENTITY_TEXTS[entity]!)
    .replaceAll(/\s+/g, ' ')
    .trim()
}
