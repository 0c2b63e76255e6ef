import type { DocsPage } from './docsPages.ts'
import { pageUrl } from './servedUrl.ts'

const HEAD = `# Bezel

> An open, non-custodial trading service for perpetuals on an on-chain Diamond. Agents sign requests, get prepared transactions, broadcast them
> themselves, and see the true state of every order.

Machine-readable: [openapi.json](/openapi.json) (REST), [asyncapi.json](/asyncapi.json) (WebSocket), [llms-full.txt](/llms-full.txt) (all pages in one).`

/** /llms.txt: every page with one line about it. */
export function llmsText(pages: readonly DocsPage[]): string {
  const sections = [...Map.groupBy(pages, ({ section }) => section)].map(([section, own]) => {
    const lines = own.map(({ title, slug, summary }) => `- [${title}](${pageUrl(slug, 'md')}): ${summary}`)
    return `## ${section}\n\n${lines.join('\n')}`
  })
  return `${[HEAD, ...sections].join('\n\n')}\n`
}
