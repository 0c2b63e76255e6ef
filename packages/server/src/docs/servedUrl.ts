import { posix } from 'node:path'
import { decisionTitle, DOCS_PAGES } from './docsPages.ts'
import { createHeadingIds } from './markdown/renderMarkdown.ts'

/** The form of the pages that links lead to: HTML for people, or the markdown it is made from. */
export type DocsForm = 'html' | 'md'

/** Files of the repository that the service serves at other paths. */
const SERVED_FILES: Readonly<Record<string, string>> = {
  'README.md': '/docs',
  'docs/reference/openapi.json': '/openapi.json',
  'docs/reference/asyncapi.json': '/asyncapi.json',
  'docs/reference/order-lifecycle.svg': '/docs/order-lifecycle.svg',
}

/** Examples, the request collection, and the modules that pages lead to. All are served as plain text. */
const SOURCE =
  /^(?:examples\/[\w-]+\.m?[jt]s|clients\/http\/[\w-]+\.(?:mjs|http)|(?:packages|scripts|e2e)\/[\w./-]+\.ts)$/

/** Returns the address of a page. The overview is at `/docs` itself. */
export function pageUrl(slug: string, form: DocsForm): string {
  if (form === 'md') return `/docs/${slug}.md`
  return slug === 'index' ? '/docs' : `/docs/${slug}`
}

/**
 * Returns the URL of a link in a file of the repository when that file is served; `undefined` when its target is not
 * served.
 */
export function servedUrl(href: string, source: string, form: DocsForm): string | undefined {
  if (/^[a-z]+:/i.test(href) || href.startsWith('#')) return href
  const [path = '', anchor] = href.split('#')
  const file = posix.join(posix.dirname(source), path)
  const url = urlOf(file, form)
  return url === undefined || anchor === undefined ? url : `${url}#${anchor}`
}

function urlOf(file: string, form: DocsForm): string | undefined {
  const page = DOCS_PAGES.find(({ source }) => source === file)
  if (page !== undefined) return pageUrl(page.slug, form)
  if (SOURCE.test(file)) return `/docs/${file}`
  const [, operation] = /^docs\/reference\/(rest\/\w+)\.md$/.exec(file) ?? []
  if (operation !== undefined) return pageUrl(operation, form)
  const decision = decisionTitle(file)
  if (decision !== undefined) return `${pageUrl('decisions', form)}#${createHeadingIds()(decision)}`
  return SERVED_FILES[file]
}
