import { readdirSync, readFileSync } from 'node:fs'
import { layout } from './layout.ts'
import { llmsText } from './llmsText.ts'
import { renderMarkdown, type RenderedPage } from './markdown/renderMarkdown.ts'
import { rewriteLinks } from './markdown/rewriteLinks.ts'
import { readPages, type PageText, type ReadPagesOptions } from './readPages.ts'
import { DIAGRAM_FILE } from './reference/lifecyclePage.ts'
import { lifecycleDiagram } from './reference/lifecycleDiagram.ts'
import { lifecyclePicture } from './reference/lifecyclePicture.ts'
import { REPOSITORY_ROOT } from './repositoryRoot.ts'
import { pageUrl, servedUrl, type DocsForm } from './servedUrl.ts'
import { siteFile, type SiteFile } from './siteFile.ts'

/** Everything under `/docs`, and the two files for language models, by path. Each is made when it is first asked for. */
export interface Site {
  readonly paths: () => readonly string[]
  file(path: string): SiteFile | undefined
  /** The page that says that there is none. */
  readonly missing: () => SiteFile
}

type MakeFile = () => SiteFile

const NOT_FOUND = `# There is no such page

The address is wrong, or the page has moved. The [overview](README.md) lists all pages, and the search above finds headings.
`

export function createSite(options: ReadPagesOptions): Site {
  const pages = readPages(options)
  const render = memoized((page: PageText) => renderPage(page))
  const style = siteFile('text/css', asset('docs.css') + readText('./reference/lifecycleStyle.css'))
  const script = siteFile('text/javascript', asset('docs.js'))
  const assets = { style: `/docs/docs.css?v=${style.version}`, script: `/docs/docs.js?v=${script.version}` }
  const htmlOf = (page: PageText): SiteFile => siteFile('text/html', layout({ pages, page, assets, ...render(page) }))

  const files = new Map<string, MakeFile>([
    ...pages.flatMap((page): [string, MakeFile][] => [
      [pageUrl(page.slug, 'html'), () => htmlOf(page)],
      [pageUrl(page.slug, 'md'), () => siteFile('text/markdown', markdownOf(page))],
    ]),
    ...exampleNames().map((name): [string, MakeFile] => [`/docs/examples/${name}`, () => example(name)]),
    ['/docs/docs.css', () => style],
    ['/docs/docs.js', () => script],
    ['/docs/headings.js', () => siteFile('text/javascript', headingsScript(pages, render))],
    ['/docs/icon.svg', () => siteFile('image/svg+xml', asset('icon.svg'))],
    [`/docs/${DIAGRAM_FILE}`, () => siteFile('image/svg+xml', lifecyclePicture())],
    ['/llms.txt', () => siteFile('text/plain', llmsText(pages))],
    ['/llms-full.txt', () => siteFile('text/plain', pages.map(markdownOf).join('\n'))],
  ])
  const made = memoized((path: string) => files.get(path)!())
  const missing = memoized(() => {
    const { html } = renderMarkdown(NOT_FOUND, { urlOf: linksOf('docs/README.md', 'html') })
    return siteFile('text/html', layout({ pages, page: undefined, assets, headings: [], html }))
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
    pictureOf: (href) => (href === DIAGRAM_FILE ? `<span class="picture">${lifecycleDiagram()}</span>` : undefined),
  })
}

function markdownOf({ markdown, source }: PageText): string {
  return rewriteLinks(markdown, linksOf(source, 'md'))
}

/** For the search: every heading of every page, as a module that the script loads when somebody begins to type. */
function headingsScript(pages: readonly PageText[], render: (page: PageText) => RenderedPage): string {
  const entries = pages.flatMap((page) =>
    render(page).headings.map(({ depth, id, text }) => {
      const url = pageUrl(page.slug, 'html')
      return depth === 1 ? [text, page.title, url] : [text, page.title, `${url}#${id}`]
    }),
  )
  return `export default ${JSON.stringify(entries)}\n`
}

function exampleNames(): readonly string[] {
  return readdirSync(new URL('examples/', REPOSITORY_ROOT)).filter((name) => /^[\w-]+\.m?[jt]s$/.test(name))
}

function example(name: string): SiteFile {
  return siteFile('text/plain', readFileSync(new URL(`examples/${name}`, REPOSITORY_ROOT), 'utf8'))
}

function asset(name: string): string {
  return readText(`./assets/${name}`)
}

function readText(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8')
}
