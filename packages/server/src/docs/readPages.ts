import { existsSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { SERVER_SETTINGS } from '../settings/config.ts'
import { DOCS_PAGES, type DocsDocuments, type DocsPage } from './docsPages.ts'
import { REPOSITORY_ROOT } from './repositoryRoot.ts'

/** A page with its text, as in the repository. */
export interface PageText extends DocsPage {
  readonly markdown: string
}

export interface ReadPagesOptions {
  readonly documents: DocsDocuments
  /** Of this deployment: the pages name headers. */
  readonly headerPrefix: string
}

/** As the pages are written. */
const WRITTEN_PREFIX = SERVER_SETTINGS.BEZEL_HEADER_PREFIX.defaultValue

/** Every page that is there. The overview ends with a list of the others. */
export function readPages({ documents, headerPrefix }: ReadPagesOptions): readonly PageText[] {
  const present = DOCS_PAGES.filter(
    ({ source, make }) => make !== undefined || existsSync(new URL(source, REPOSITORY_ROOT)),
  )
  return present.map((page) => {
    const text = page.make?.(documents) ?? readFileSync(new URL(page.source, REPOSITORY_ROOT), 'utf8')
    const own = text.replaceAll(WRITTEN_PREFIX, headerPrefix)
    return { ...page, markdown: page.slug === 'index' ? `${own.trimEnd()}\n\n${listOf(present)}` : own }
  })
}

function listOf(pages: readonly DocsPage[]): string {
  const others = pages.filter(({ slug }) => slug !== 'index')
  const sections = [...Map.groupBy(others, ({ section }) => section)].map(([section, own]) => {
    const lines = own.map(({ title, source, summary }) => `- [${title}](${posix.relative('docs', source)}): ${summary}`)
    return `### ${section}\n\n${lines.join('\n')}`
  })
  return `## All pages\n\n${sections.join('\n\n')}\n`
}
