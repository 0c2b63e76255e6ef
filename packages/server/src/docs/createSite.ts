import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { renderMarkdown, type RenderedPage, escapeHtml, type Heading } from './markdown/renderMarkdown.ts'
import { rewriteLinks } from './markdown/writeMarkdown.ts'
import { readPages, type PageText, type ReadPagesOptions, type DocsPage, REPOSITORY_ROOT } from './docsPages.ts'
import { DIAGRAM_FILE } from './reference/lifecyclePage.ts'
import { lifecycleDiagram, lifecyclePicture } from './reference/lifecycleDiagram.ts'
import { pageUrl, servedUrl, type DocsForm } from './servedUrl.ts'
import { createHash } from 'node:crypto'
import { searchIndex } from './search/searchIndex.ts'
import type { Deployment } from './reference/deployment.ts'

/** Everything under `/docs` and the two files for language models, by path. Each file is made on its first request. */
export interface Site {
  readonly paths: () => readonly string[]
  file(path: string): SiteFile | undefined
  /** The page that says that there is no such page. */
  readonly missing: () => SiteFile
}

/** A file of the site. */
interface SiteFile {
  readonly type: string
  readonly body: Buffer
  /** Hash of the content. */
  readonly version: string
  /** True for a page whose form sends requests to the service. */
  readonly hasForm: boolean
}

type MakeFile = () => SiteFile

const VERSION_CHARS = 16

/** Scripts of the pages. The one that signs is served on the sandbox only. */
const SCRIPTS = ['docs.js', 'search.js', 'form.js']

/** Links to files that are served as plain text. */
const SOURCE_LINK = /\]\(([\w./-]+\.(?:ts|mjs|http))\)/g

const NOT_FOUND = `# There is no such page

The address is wrong, or the page has moved. The [overview](README.md) lists all pages, and the search above looks through all of them.
`

const LLMS_HEAD = `# Bezel

> An open, non-custodial trading service for perpetuals on an on-chain Diamond. Agents sign requests, get prepared transactions, broadcast them
> themselves, and see the true state of every order.

Machine-readable: [openapi.json](/openapi.json) (REST), [asyncapi.json](/asyncapi.json) (WebSocket), [llms-full.txt](/llms-full.txt) (all pages in one).`

export function createSite(options: ReadPagesOptions): Site {
  const pages = readPages(options)
  const render = memoized((page: PageText) => renderPage(page))
  const style = createSiteFile('text/css', asset('docs.css') + readText('./reference/lifecycleStyle.css'))
  const scripts = Object.fromEntries(
    [...SCRIPTS, ...(options.deployment.isSandbox ? ['sign.js'] : [])].map((name) => [
      name,
      createSiteFile('text/javascript', asset(name)),
    ]),
  )
  const versioned = (name: string, { version }: SiteFile): string => `/docs/${name}?v=${version}`
  const assets = {
    style: versioned('docs.css', style),
    script: versioned('docs.js', scripts['docs.js']!),
    form: versioned('form.js', scripts['form.js']!),
  }
  const { deployment } = options
  const htmlOf = (page: PageText): SiteFile =>
    createSiteFile('text/html', layout({ pages, page, assets, deployment, ...render(page) }), page.form !== undefined)

  const files = new Map<string, MakeFile>([
    ...pages.flatMap((page): [string, MakeFile][] => [
      [pageUrl(page.slug, 'html'), () => htmlOf(page)],
      [pageUrl(page.slug, 'md'), () => createSiteFile('text/markdown', markdownOf(page))],
    ]),
    ...sourceFiles(pages).map((file): [string, MakeFile] => [`/docs/${file}`, () => sourceFile(file)]),
    ['/docs/docs.css', () => style],
    ...Object.entries(scripts).map(([name, file]): [string, MakeFile] => [`/docs/${name}`, () => file]),
    ['/docs/index.js', () => createSiteFile('text/javascript', indexScript(pages, render))],
    ['/docs/icon.svg', () => createSiteFile('image/svg+xml', asset('icon.svg'))],
    [`/docs/${DIAGRAM_FILE}`, () => createSiteFile('image/svg+xml', lifecyclePicture())],
    ['/llms.txt', () => createSiteFile('text/plain', llmsText(pages.filter(isListed)))],
    ['/llms-full.txt', () => createSiteFile('text/plain', pages.filter(isListed).map(markdownOf).join('\n'))],
  ])
  const made = memoized((path: string) => files.get(path)!())
  const missing = memoized(() => {
    const { html } = renderMarkdown(NOT_FOUND, { urlOf: linksOf('docs/README.md', 'html') })
    return createSiteFile('text/html', layout({ pages, page: undefined, assets, deployment, headings: [], html }))
  })
  return {
    paths: () => [...files.keys()],
    file: (path) => (files.has(path) ? made(path) : undefined),
    missing: () => missing('missing'),
  }
}

function memoized<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>()
  return (key) => {
    if (!known.has(key)) known.set(key, make(key))
    return known.get(key)!
  }
}

function linksOf(source: string, form: DocsForm): (href: string) => string | undefined {
  return (href) => servedUrl(href, source, form)
}

function renderPage({ markdown, source }: PageText): RenderedPage {
  return renderMarkdown(markdown, {
    urlOf: linksOf(source, 'html'),
    pictureOf: (href) =>
      href === DIAGRAM_FILE ? `<span class="picture" tabindex="0">${lifecycleDiagram()}</span>` : undefined,
  })
}

function markdownOf({ markdown, source }: PageText): string {
  return rewriteLinks(markdown, linksOf(source, 'md'))
}

/** Returns the index of all pages as a module, which the search loads when somebody is about to type. */
function indexScript(pages: readonly PageText[], render: (page: PageText) => RenderedPage): string {
  const operations = new Map(pages.filter(({ parent }) => parent === 'rest').map(({ title, slug }) => [title, slug]))
  const ownPageOf = (heading: string): string | undefined => {
    const slug = operations.get(heading)
    return slug === undefined ? undefined : pageUrl(slug, 'html')
  }
  const index = searchIndex(
    pages.filter(isListed).map((page) => ({
      title: page.title,
      url: pageUrl(page.slug, 'html'),
      html: render(page).html,
      ...(page.slug === 'rest' ? { ownPageOf } : {}),
    })),
  )
  return `export default ${JSON.stringify(index)}\n`
}

/** True for a page of the lists; pages of single operations are reached from the one of all. */
function isListed({ parent }: PageText): boolean {
  return parent === undefined
}

/** Returns /llms.txt: every page with one line about it. */
function llmsText(pages: readonly DocsPage[]): string {
  const sections = [...Map.groupBy(pages, ({ section }) => section)].map(([section, own]) => {
    const lines = own.map(({ title, slug, summary }) => `- [${title}](${pageUrl(slug, 'md')}): ${summary}`)
    return `## ${section}\n\n${lines.join('\n')}`
  })
  return `${[LLMS_HEAD, ...sections].join('\n\n')}\n`
}

function createSiteFile(type: string, text: string, hasForm = false): SiteFile {
  const body = Buffer.from(text)
  const version = createHash('sha256').update(body).digest('base64url').slice(0, VERSION_CHARS)
  return { type: `${type}; charset=utf-8`, body, version, hasForm }
}

/** Lists the examples, and the modules that the pages link to; nothing else of the repository is served. */
function sourceFiles(pages: readonly PageText[]): readonly string[] {
  const names = readdirSync(new URL('examples/', REPOSITORY_ROOT)).filter((name) => /^[\w-]+\.m?[jt]s$/.test(name))
  const linked = pages.flatMap(({ markdown, source }) =>
    [...markdown.matchAll(SOURCE_LINK)].map(([, href]) => posix.join(posix.dirname(source), href!)),
  )
  const modules = linked.filter((file) => existsSync(new URL(file, REPOSITORY_ROOT)))
  return [...new Set([...names.map((name) => `examples/${name}`), ...modules])]
}

function sourceFile(path: string): SiteFile {
  return createSiteFile('text/plain', readFileSync(new URL(path, REPOSITORY_ROOT), 'utf8'))
}

function asset(name: string): string {
  return readText(`./assets/${name}`)
}

function readText(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8')
}

/** The parts of a page. */
interface LayoutOptions {
  readonly pages: readonly PageText[]
  /** The page that is shown; `undefined` for the page that says "not found". */
  readonly page: PageText | undefined
  readonly deployment: Deployment
  readonly headings: readonly Heading[]
  readonly html: string
  /** Addresses of the stylesheet and the scripts. */
  readonly assets: { readonly style: string; readonly script: string; readonly form: string }
}

/**
 * Returns the HTML of a page: navigation, text, list of its sections. It has no inline script or style, so the
 * strictest content security policy suits it.
 */
function layout({ pages, page, headings, html, assets, deployment }: LayoutOptions): string {
  const title = page === undefined ? 'Not found' : page.title
  const list = contents(headings)
  return `<!doctype html>
<html lang="en"${deployment.isNamed ? '' : ` data-base="${escapeHtml(deployment.baseUrl)}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Bezel</title>
<meta name="description" content="${escapeHtml(page?.summary ?? 'There is no such page.')}">
<link rel="icon" href="/docs/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${assets.style}">
${page === undefined ? '' : `<link rel="alternate" type="text/markdown" href="${pageUrl(page.slug, 'md')}">\n`}<script src="${assets.script}" type="module"></script>
${page?.form === undefined ? '' : `<script src="${assets.form}" type="module"></script>\n`}</head>
<body>
<a class="skip" href="#text">Skip to the text</a>
<header>
<a class="home" href="/docs"><img src="/docs/icon.svg" alt="" width="24" height="24">Bezel</a>
<a class="menu" href="#pages">Pages</a>
<div class="search"><input id="search" type="search" placeholder="Search" aria-label="Search all pages" aria-controls="found" autocomplete="off" spellcheck="false"><ol id="found" aria-label="Found" hidden></ol><p id="count" role="status"></p></div>
</header>
<div class="columns">
<main id="text" class="${classOf(page)}"${page?.form === undefined ? '' : ` data-form="${escapeHtml(JSON.stringify(page.form))}"`}>
${foldedContents(list)}${html}${page === undefined ? '' : footer(pages, page)}</main>
<nav id="pages" aria-label="Pages">
${navigation(pages.filter(isListed), page)}
</nav>
${beside(pages, page, list)}
</div>
</body>
</html>
`
}

/** Returns the class of a page's text: its slug, or the slug of the page that it is a part of. */
function classOf(page: PageText | undefined): string {
  return page?.parent ?? page?.slug ?? 'missing'
}

/** Returns the column beside the text: the sections of the page, or the other operations on the page of one. */
function beside(pages: readonly PageText[], page: PageText | undefined, list: string): string {
  if (page?.parent === undefined) {
    return `<aside aria-label="On this page">${list === '' ? '' : `<h2>On this page</h2>\n${list}`}</aside>`
  }
  const links = pages.filter(({ parent }) => parent === page.parent).map((sibling) => linkTo(sibling, page.slug))
  return `<aside aria-label="Operations"><h2>Operations</h2>\n<ul>\n${links.join('\n')}\n</ul></aside>`
}

function linkTo({ slug, title }: DocsPage, current: string | undefined): string {
  const mark = slug === current ? ' aria-current="page"' : ''
  return `<li><a href="${pageUrl(slug, 'html')}"${mark}>${escapeHtml(title)}</a></li>`
}

function navigation(pages: readonly DocsPage[], current: PageText | undefined): string {
  return [...Map.groupBy(pages, ({ section }) => section)]
    .map(([section, own]) => {
      const links = own.map((page) => linkTo(page, current?.parent ?? current?.slug))
      return `<h2>${section}</h2>\n<ul>\n${links.join('\n')}\n</ul>`
    })
    .join('\n')
}

/** Returns the list of a page's sections, two levels deep. Deeper headings are found by the search. */
function contents(headings: readonly Heading[]): string {
  const shown = headings.filter(({ depth }) => depth === 2 || depth === 3)
  if (shown.length < 2) return ''
  const links = shown.map(
    ({ depth, id, text }) => `<li class="depth-${depth}"><a href="#${id}">${escapeHtml(text)}</a></li>`,
  )
  return `<ul>\n${links.join('\n')}\n</ul>`
}

/** Returns the same list folded, for narrow screens, which have no room beside the text. */
function foldedContents(list: string): string {
  return list === '' ? '' : `<details class="contents"><summary>On this page</summary>\n${list}\n</details>\n`
}

function footer(all: readonly PageText[], page: PageText): string {
  const pages = all.filter(({ parent }) => parent === page.parent)
  const index = pages.findIndex(({ slug }) => slug === page.slug)
  const links = [
    ['prev', pages[index - 1]],
    ['next', pages[index + 1]],
  ] as const
  const steps = links.map(([rel, to]) =>
    to === undefined
      ? '<span></span>'
      : `<a rel="${rel}" href="${pageUrl(to.slug, 'html')}"><small>${rel === 'prev' ? 'Before' : 'Next'}</small>${escapeHtml(to.title)}</a>`,
  )
  return `<footer><div class="steps">${steps.join('')}</div><p>This page as <a href="${pageUrl(page.slug, 'md')}">markdown</a> · all of them in <a href="/llms.txt">llms.txt</a></p></footer>\n`
}
