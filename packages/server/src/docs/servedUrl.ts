import { posix } from 'node:path'
import { decisionTitle } from './decisionsPage.ts'
import { DOCS_PAGES } from './docsPages.ts'
import { createHeadingIds } from './markdown/headingIds.ts'

/** How pages link to each other: to the pages for people, or to the texts that they are made from. */
export type DocsForm = 'html' | 'md'

/** What the service answers under names of its own. */
const SERVED_FILES: Readonly<Record<string, string>> = {
  'README.md': '/docs',
  'docs/reference/openapi.json': '/openapi.json',
  'docs/reference/asyncapi.json': '/asyncapi.json',
  'docs/reference/order-lifecycle.svg': '/docs/order-lifecycle.svg',
}

const EXAMPLE = /^examples\/[\w-]+\.m?[jt]s$/

/** The address of a page. The overview is at `/docs` itself. */
export function pageUrl(slug: string, form: DocsForm): string {
  if (form === 'md') return `/docs/${slug}.md`
  return slug === 'index' ? '/docs' : `/docs/${slug}`
}

/** Where a link in a file of the repository leads when that file is served; `undefined` when what it names is not. */
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
  if (EXAMPLE.test(file)) return `/docs/${file}`
  const decision = decisionTitle(file)
  if (decision !== undefined) return `${pageUrl('decisions', form)}#${createHeadingIds()(decision)}`
  return SERVED_FILES[file]
}
