import { Marked, Renderer, type RendererObject, type Tokens } from 'marked'
import { escapeHtml } from './escapeHtml.ts'
import { createHeadingIds } from './headingIds.ts'
import { highlight } from './highlight.ts'

/** A heading of a page, with the anchor that leads to it. */
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
  /** Where a link of the page leads; `undefined` leaves its text alone, without a link. */
  readonly urlOf: (href: string) => string | undefined
  /** What stands in the place of a picture of ours. */
  readonly pictureOf?: (href: string) => string | undefined
}

const METHOD = /^(GET|POST|PATCH|DELETE|PUT|WS) (\/.*)$/

/** A page as HTML. Tags inside of it are shown and never meant: nothing that a description says becomes markup. */
export function renderMarkdown(markdown: string, { urlOf, pictureOf }: RenderOptions): RenderedPage {
  const headings: Heading[] = []
  const idOf = createHeadingIds()
  const renderer: RendererObject = {
    html: ({ text }) => escapeHtml(text),
    codespan: ({ text }) => codeSpan(text),
    code: ({ text, lang }) => codeBlock(text, lang ?? ''),
    image: ({ href, text }) => pictureOf?.(href) ?? escapeHtml(text),
    table(token) {
      return tableBlock(Renderer.prototype.table.call(this, token), token)
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

/** A method and a path are shown as the request they are. */
function codeSpan(text: string): string {
  const [, method, path] = METHOD.exec(text) ?? []
  if (method === undefined || path === undefined) return `<code>${escapeHtml(text)}</code>`
  return `<code class="request"><b class="${method.toLowerCase()}">${method}</b> ${escapeHtml(path)}</code>`
}

function codeBlock(text: string, info: string): string {
  const [language = ''] = info.split(' ')
  return `<pre tabindex="0"><code>${highlight(text.replace(/\n$/, ''), language)}</code></pre>\n`
}

/** Scrolls by itself where it is too wide. A head without words is left out. */
function tableBlock(html: string, { header }: Tokens.Table): string {
  const isHeadless = header.every(({ text }) => text.trim() === '')
  return `<div class="table">${isHeadless ? html.replace(/<thead>[\s\S]*?<\/thead>/, '') : html}</div>\n`
}

function unescapeHtml(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}
