import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { docsOf, ERRORS, type ErrorCode } from '@bezel/protocol'
import { lexer, walkTokens, type Token } from 'marked'
import { createStreamDocument } from './asyncapi/createStreamDocument.ts'
import { createDocument, referenceDocument } from './openapi/createDocument.ts'
import { ROUTES } from '../http/routes/registerRoutes.ts'
import { createSite } from './createSite.ts'
import type { Deployment } from './reference/deployment.ts'
import { DOCS_PAGES, REPOSITORY_ROOT } from './docsPages.ts'
import { renderMarkdown } from './markdown/renderMarkdown.ts'

const SANDBOX: Deployment = {
  baseUrl: 'http://127.0.0.1:8080',
  isNamed: false,
  chains: [{ slug: 'arbitrum-sepolia', diamond: '0x09bDa267Fd9db2a5586fed3870B758Ce4E5c60E2' }],
  isSandbox: true,
  headerPrefix: 'X-Service-',
}

const LIVE: Deployment = {
  baseUrl: 'https://bezel.example',
  isNamed: true,
  chains: [
    { slug: 'base', diamond: undefined },
    { slug: 'polygon', diamond: undefined },
  ],
  isSandbox: false,
  headerPrefix: 'X-Other-',
}

const site = createSite({
  deployment: SANDBOX,
  documents: { openapi: referenceDocument(), asyncapi: createStreamDocument({ headerPrefix: 'X-Service-' }) },
})

const live = createSite({
  deployment: LIVE,
  documents: {
    openapi: createDocument(ROUTES, LIVE.headerPrefix),
    asyncapi: createStreamDocument({ headerPrefix: LIVE.headerPrefix }),
  },
})

const textOf = (path: string, of = site): string => of.file(path)!.body.toString('utf8')

/** Bounds of what a reader of one operation loads, before compression: the page, and the files that all pages share. */
const OPERATION_BYTES = 40_000
const ASSET_BYTES = 35_000

/** Bounds of the index of the search, as it is and compressed. */
const INDEX_BYTES = 700_000
const INDEX_SENT_BYTES = 205_000

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
    for (const html of [
      ...site
        .paths()
        .filter(isPage)
        .map((path) => textOf(path)),
      site.missing().body.toString('utf8'),
    ]) {
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

  it('names the headers, the address and the chain of its deployment', () => {
    const signing = textOf('/docs/signing.md', live)
    assert.ok(signing.includes('X-Other-Signature') && !signing.includes('X-Service-'))
    assert.ok(signing.includes("const CHAIN = '/v1/base'") && signing.includes("?? 'https://bezel.example'"))
    for (const path of live
      .paths()
      .filter((name) => /^\/docs\/(?:api|signing|stream|facade|python|rest\/\w+)\.md$/.test(name))) {
      const code = textOf(path, live).replaceAll(/^```(?:json|text)$[\s\S]*?^```/gm, '')
      assert.doesNotMatch(code, /127\.0\.0\.1:8080|\/v1\/arbitrum-sepolia/, path)
    }
  })

  it('leaves the pages about a sandbox of the reader as they are, and shows every other page its own address', () => {
    assert.match(textOf('/docs/getting-started.md', live), /http:\/\/127\.0\.0\.1:8080\/v1\/arbitrum-sepolia/)
    assert.match(textOf('/docs/local-chain.md', live), /127\.0\.0\.1:8545\/arbitrum-sepolia/)
    assert.match(textOf('/docs/settings.md', live), /^\| `BEZEL_HEADER_PREFIX` .* \| `X-Service-` \|/m)
    assert.match(textOf('/docs'), /<html lang="en" data-base="http:\/\/127\.0\.0\.1:8080">/)
    assert.match(textOf('/docs', live), /<html lang="en">/)
  })

  it('draws the diagram in the page', () => {
    assert.match(textOf('/docs/order-lifecycle'), /<span class="picture" tabindex="0"><svg class="lifecycle"/)
  })

  it('has a light page for each operation, which the page of all leads to', () => {
    const ids = Object.values(referenceDocument().paths).flatMap((methods) =>
      Object.values(methods).map((one) => one.operationId),
    )
    const all = textOf('/docs/rest')
    for (const id of ids) {
      const html = textOf(`/docs/rest/${id}`)
      assert.ok(html.includes(`<h1 id="${id.toLowerCase()}">`), id)
      assert.ok(all.includes(`href="/docs/rest/${id}"`), id)
      assert.ok(html.length < OPERATION_BYTES, `${id}: ${html.length} bytes`)
    }
    const scripts = ['docs.css', 'docs.js', 'form.js', 'icon.svg'].map(
      (name) => site.file(`/docs/${name}`)!.body.length,
    )
    const sum = scripts.reduce((total, bytes) => total + bytes, 0)
    assert.ok(sum < ASSET_BYTES, `${sum} bytes`)
  })

  it('has an index of all texts in one file that is small enough for a phone', () => {
    const { body } = site.file('/docs/index.js')!
    assert.ok(body.length < INDEX_BYTES, `${body.length} bytes`)
    const sent = gzipSync(body).length
    assert.ok(sent < INDEX_SENT_BYTES, `${sent} bytes`)
    for (const name of [
      'createOrder',
      'NONCE_REUSED',
      'dataPositions',
      'TradeSlInvalid',
      'EXPOSURE_LIMITS',
      'clientId',
    ]) {
      assert.ok(body.includes(`,"${name}",`), name)
    }
  })

  it('serves the signer on the sandbox only, and no key anywhere', () => {
    assert.ok(site.file('/docs/sign.js') !== undefined)
    assert.equal(live.file('/docs/sign.js'), undefined)
    for (const path of live.paths()) {
      if (path.startsWith('/docs/rest/')) assert.doesNotMatch(textOf(path, live), /agent-1\b(?=&quot;|")/, path)
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
