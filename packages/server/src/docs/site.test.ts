import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, it } from 'node:test'
import { docsOf, ERRORS, type ErrorCode } from '@bezel/protocol'
import { lexer, walkTokens, type Token } from 'marked'
import { createStreamDocument } from './asyncapi/createStreamDocument.ts'
import { referenceDocument } from './openapi/createDocument.ts'
import { createSite } from './createSite.ts'
import { DOCS_PAGES, REPOSITORY_ROOT } from './docsPages.ts'
import { renderMarkdown } from './markdown/renderMarkdown.ts'

const site = createSite({
  headerPrefix: 'X-Service-',
  documents: { openapi: referenceDocument(), asyncapi: createStreamDocument({ headerPrefix: 'X-Service-' }) },
})

const textOf = (path: string): string => site.file(path)!.body.toString('utf8')

const isPage = (path: string): boolean => site.file(path)!.type.startsWith('text/html')

/** Paths that other parts of the service serve. */
const OTHERS = new Set(['/openapi.json', '/asyncapi.json'])

/** Lists the targets of the links and pictures of a markdown text. */
function linksOf(markdown: string): string[] {
  const found: string[] = []
  walkTokens(lexer(markdown), (token: Token) => {
    if (token.type === 'link' || token.type === 'image') found.push(String(token.href))
  })
  return found
}

const known = new Map<string, ReadonlySet<string>>()

/** Returns the anchors of a markdown text. Cached, because thousands of links point into the same few texts. */
function anchorsOf(markdown: string): ReadonlySet<string> {
  const found =
    known.get(markdown) ?? new Set(renderMarkdown(markdown, { urlOf: (href) => href }).headings.map(({ id }) => id))
  known.set(markdown, found)
  return found
}

const isElsewhere = (href: string): boolean => /^[a-z]+:/.test(href)

describe('the links of errors', () => {
  it('lead to the paragraph of each code', () => {
    for (const code of Object.keys(ERRORS) as ErrorCode[]) {
      const [path = '', anchor = ''] = docsOf(code).split('#')
      assert.ok(textOf(path).includes(`<h3 id="${anchor}">`), docsOf(code))
    }
  })
})

describe('links in the repository', () => {
  const files = globSync(['*.md', 'docs/**/*.md', 'contracts/*.md', 'packages/*/*.md'], {
    cwd: REPOSITORY_ROOT.pathname,
  }).toSorted()
  const read = (file: string): string => readFileSync(new URL(file, REPOSITORY_ROOT), 'utf8')

  it('are looked for in all pages', () => {
    for (const file of ['README.md', 'docs/README.md', 'docs/signing.md', 'docs/reference/rest.md']) {
      assert.ok(files.includes(file), file)
    }
  })

  for (const file of files) {
    it(`of ${file} lead to files and headings that are there`, () => {
      for (const href of linksOf(read(file)).filter((link) => !isElsewhere(link))) {
        const [path = '', anchor] = href.split('#')
        const target = path === '' ? file : posix.join(posix.dirname(file), path)
        assert.ok(existsSync(new URL(target, REPOSITORY_ROOT)), `${href}: there is no ${target}`)
        if (anchor === undefined) continue
        assert.ok(anchorsOf(read(target)).has(anchor), `${href}: ${target} has no heading #${anchor}`)
      }
    })
  }
})

describe('links of the served pages', () => {
  const checkTarget = (href: string, from: string, anchors: (path: string) => ReadonlySet<string>): void => {
    const { pathname, hash } = new URL(href, `http://localhost${from}`)
    if (OTHERS.has(pathname)) return
    assert.ok(site.file(pathname) !== undefined, `${from}: nothing is served at ${pathname}`)
    const anchor = decodeURIComponent(hash.slice(1))
    if (anchor !== '') assert.ok(anchors(pathname).has(anchor), `${from}: ${pathname} has no #${anchor}`)
  }

  it('lead to pages and headings that are there', () => {
    const ids = new Map(
      site.paths().map((path) => [path, new Set([...textOf(path).matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id!))]),
    )
    const idsOf = (path: string): ReadonlySet<string> => ids.get(path)!
    for (const path of site.paths().filter(isPage)) {
      const html = textOf(path)
      for (const [, href = ''] of html.matchAll(/<a[^>]* href="([^"]+)"/g)) {
        if (!isElsewhere(href)) checkTarget(href, path, idsOf)
      }
    }
  })

  it('load nothing from elsewhere, and have nothing inline', () => {
    for (const html of [...site.paths().filter(isPage).map(textOf), site.missing().body.toString('utf8')]) {
      for (const [, href = ''] of html.matchAll(/<(?:link|script|img)[^>]* (?:href|src)="([^"]+)"/g)) {
        assert.match(href, /^\/docs\//)
        assert.ok(site.file(href.split('?')[0]!) !== undefined, href)
      }
      assert.doesNotMatch(html, /<style|\sstyle="|<script>|\son\w+="/)
    }
  })

  it('lead from markdown to markdown', () => {
    for (const path of site.paths().filter((name) => name.endsWith('.md') || name === '/llms.txt')) {
      for (const href of linksOf(textOf(path)).filter((link) => !isElsewhere(link))) {
        if (!href.startsWith('/') && !href.startsWith('#'))
          assert.fail(`${path}: ${href} is not served: write it as code, or make it a page in docsPages.ts`)
        checkTarget(href, path, (target) => anchorsOf(textOf(target)))
      }
    }
  })
})

describe('the site', () => {
  it('has each page of the list as HTML and as markdown, with anchors that are unique', () => {
    for (const { slug, title, source, make } of DOCS_PAGES) {
      if (make === undefined && !existsSync(new URL(source, REPOSITORY_ROOT))) continue
      const html = textOf(slug === 'index' ? '/docs' : `/docs/${slug}`)
      assert.ok(html.includes(`<title>${title} · Bezel</title>`), slug)
      assert.match(textOf(`/docs/${slug}.md`), /^# /, slug)
      const ids = [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)
      assert.equal(new Set(ids).size, ids.length, slug)
      assert.ok(textOf('/llms.txt').includes(`(/docs/${slug}.md): `), slug)
    }
  })

  it('names the headers of its deployment', () => {
    const other = createSite({
      headerPrefix: 'X-Other-',
      documents: { openapi: referenceDocument(), asyncapi: createStreamDocument({ headerPrefix: 'X-Other-' }) },
    })
    const signing = other.file('/docs/signing.md')!.body.toString('utf8')
    assert.ok(signing.includes('X-Other-Signature') && !signing.includes('X-Service-'))
  })

  it('draws the diagram in the page', () => {
    assert.match(textOf('/docs/order-lifecycle'), /<span class="picture"><svg class="lifecycle"/)
  })

  it('finds every heading by the search', () => {
    const headings = textOf('/docs/headings.js')
    for (const text of ['createOrder', 'NONCE_REUSED', 'dataPositions', 'Nothing is missed']) {
      assert.ok(headings.includes(`["${text}",`), text)
    }
  })
})

describe('the colours', () => {
  const css = textOf('/docs/docs.css')
  const [light = '', dark = ''] = [...css.matchAll(/:root \{([^}]+)\}/g)].map(([, body]) => body!)
  const colour = (theme: string, name: string): string => new RegExp(`--${name}: (#[0-9a-f]{6})`).exec(theme)![1]!

  for (const [name, theme] of Object.entries({ light, dark })) {
    it(`are readable in the ${name} theme`, () => {
      const inks = [
        'ink',
        'quiet',
        'link',
        'get',
        'post',
        'patch',
        'delete',
        'token-text',
        'token-word',
        'token-name',
        'token-number',
      ]
      for (const ink of inks) {
        for (const ground of ['paper', 'panel', 'code', 'mark']) {
          const ratio = contrast(colour(theme, ink), colour(theme, ground))
          assert.ok(ratio >= 4.5, `${ink} on ${ground}: ${ratio.toFixed(2)}`)
        }
      }
    })
  }
})

/** Returns the contrast ratio of two colours, as WCAG 2 defines it. */
function contrast(a: string, b: string): number {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].toSorted((x, y) => x - y)
  return (high + 0.05) / (low + 0.05)
}

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
