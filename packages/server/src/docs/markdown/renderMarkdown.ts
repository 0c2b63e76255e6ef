import { Marked, Renderer, type RendererObject, type Tokens } from 'marked'

/** A heading of a page, with the id of its anchor. */
export interface Heading {
  readonly depth: number
  readonly id: string
  readonly text: string
}

export interface RenderedPage {
  readonly html: string
  readonly headings: readonly Heading[]
}

export interface RenderOptions {
  /** Returns the URL of a link; `undefined` renders its text without a link. */
  readonly urlOf: (href: string) => string | undefined
  /** Returns the HTML that replaces a picture; `undefined` shows its alternative text. */
  readonly pictureOf?: (href: string) => string | undefined
}

const METHOD = /^(GET|POST|PATCH|DELETE|PUT|WS) (\/.*)$/

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const STRING = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`

const NUMBER = String.raw`\b\d[\d_.]*n?\b`

const WORDS =
  'as|async|await|break|catch|const|continue|else|export|finally|for|from|function|if|import|in|interface|let|new|of|return|throw|try|type|typeof|while'

const PYTHON_WORDS =
  'and|as|async|await|break|class|continue|def|elif|else|except|finally|for|from|if|import|in|is|not|or|raise|return|try|while|with'

/** One pattern per language, with a named group for each class of text. */
const PATTERNS: Readonly<Record<string, RegExp>> = {
  json: new RegExp(
    String.raw`(?<name>"(?:[^"\\\n]|\\.)*"(?=\s*:))|(?<text>"(?:[^"\\\n]|\\.)*")|(?<word>\b(?:true|false|null)\b)|(?<number>-?${NUMBER})`,
    'g',
  ),
  js: new RegExp(
    String.raw`(?<note>\/\/[^\n]*)|(?<text>\`(?:[^\`\\]|\\.)*\`|${STRING})|(?<word>\b(?:${WORDS}|true|false|null|undefined)\b)|(?<number>${NUMBER})`,
    'g',
  ),
  sh: new RegExp(String.raw`(?<note>(?<=^|\s)#[^\n]*)|(?<text>${STRING})|(?<name>\$\{?\w+\}?)`, 'gm'),
  python: new RegExp(
    String.raw`(?<note>#[^\n]*)|(?<text>${STRING})|(?<word>\b(?:${PYTHON_WORDS}|True|False|None)\b)|(?<number>${NUMBER})`,
    'g',
  ),
}

const ALIASES: Readonly<Record<string, string>> = { ts: 'js', mjs: 'js', bash: 'sh' }

/** Renders a page as HTML. Tags in the text are shown, never interpreted: no description can become markup. */
export function renderMarkdown(markdown: string, { urlOf, pictureOf }: RenderOptions): RenderedPage {
  const headings: Heading[] = []
  const idOf = createHeadingIds()
  const rowIdOf = createRowIds()
  const renderer: RendererObject = {
    html: ({ text }) => escapeHtml(text),
    codespan: ({ text }) => codeSpan(text),
    code: ({ text, lang }) => codeBlock(text, lang ?? ''),
    image: ({ href, text }) => pictureOf?.(href) ?? escapeHtml(text),
    table(token) {
      const ids = token.rows.map(([cell]) => rowIdOf(headings.at(-1)?.id ?? '', cell))
      return tableBlock(Renderer.prototype.table.call(this, token), token, ids)
    },
    link({ href, tokens }) {
      const url = urlOf(href)
      const inner = this.parser.parseInline(tokens)
      return url === undefined ? inner : `<a href="${escapeHtml(url)}">${inner}</a>`
    },
    heading({ tokens, depth }) {
      const text = unescapeHtml(this.parser.parseInline(tokens, this.parser.textRenderer))
      const id = idOf(text)
      headings.push({ depth, id, text })
      const anchor = `<a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`
      return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}${depth === 1 ? '' : ` ${anchor}`}</h${depth}>\n`
    },
  }
  const html = new Marked({ renderer }).parse(markdown, { async: false })
  return { html, headings }
}

/**
 * Returns a function that gives each heading of one page its anchor, by the rule that code hosts use, so that a link to
 * a section works in the repository and here alike. A repeated text gets a number.
 */
export function createHeadingIds(): (text: string) => string {
  const taken = new Set<string>()
  return (text) => {
    const plain = text
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-')
    let id = plain
    for (let count = 1; taken.has(id); count += 1) id = `${plain}-${count}`
    taken.add(id)
    return id
  }
}

/**
 * Returns a function that gives rows their ids: `<section>.<name>` for a row that begins with a name in code, such as a
 * field or an error. No heading has a dot in its id, so the two never meet.
 */
function createRowIds(): (section: string, cell: Tokens.TableCell | undefined) => string | undefined {
  const taken = new Set<string>()
  return (section, cell) => {
    const [token, ...others] = cell?.tokens ?? []
    if (token?.type !== 'codespan' || others.length > 0) return undefined
    const name = String((token as Tokens.Codespan).text).toLowerCase()
    const plain = `${section}.${name.replaceAll(/[^\w.]+/g, '-')}`
    let id = plain
    for (let count = 1; taken.has(id); count += 1) id = `${plain}-${count}`
    taken.add(id)
    return id
  }
}

/** Escapes a text for use between tags and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!)
}

/** Renders inline code. A method and a path are shown as a request. */
function codeSpan(text: string): string {
  const [, method, path] = METHOD.exec(text) ?? []
  if (method === undefined || path === undefined) return `<code>${escapeHtml(text)}</code>`
  return `<code class="request"><b class="${method.toLowerCase()}">${method}</b> ${escapeHtml(path)}</code>`
}

/** Renders a block of code. A word after its language is a label: blocks with labels are the tabs of one group. */
function codeBlock(text: string, info: string): string {
  const [language = '', label] = info.split(' ')
  const block = `<pre tabindex="0"><code>${highlight(text.replace(/\n$/, ''), language)}</code></pre>\n`
  if (label === undefined) return block
  return `<figure class="tab"><figcaption>${escapeHtml(label)}</figcaption>${block}</figure>\n`
}

/** Renders code as HTML with syntax highlighting. Code in an unknown language is only escaped. */
export function highlight(code: string, language: string): string {
  const pattern = PATTERNS[ALIASES[language] ?? language]
  if (pattern === undefined) return escapeHtml(code)
  let html = ''
  let end = 0
  for (const match of code.matchAll(pattern)) {
    const [kind = '', text = ''] = Object.entries(match.groups ?? {}).find(([, value]) => value !== undefined) ?? []
    html += `${escapeHtml(code.slice(end, match.index))}<span class="${kind}">${escapeHtml(text)}</span>`
    end = match.index + match[0].length
  }
  return html + escapeHtml(code.slice(end))
}

/**
 * Wraps a table so that it scrolls by itself when it is too wide. An empty table head is left out, and rows with an id
 * can be linked to.
 */
function tableBlock(html: string, { header }: Tokens.Table, ids: readonly (string | undefined)[]): string {
  const isHeadless = header.every(({ text }) => text.trim() === '')
  // A cell without words is no heading of its column.
  const [head = '', body = ''] = html.replaceAll('<th></th>', '<td></td>').split(/(?=<tbody>)/)
  let row = 0
  const rows = body.replaceAll('<tr>', () => {
    const id = ids[row]
    row += 1
    return id === undefined ? '<tr>' : `<tr id="${id}">`
  })
  return `<div class="table" tabindex="0">${isHeadless ? head.replace(/<thead>[\s\S]*?<\/thead>/, '') : head}${rows}</div>\n`
}

function unescapeHtml(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}
