import type { AsyncapiDocument } from './asyncapi/createStreamDocument.ts'
import type { OpenapiDocument } from './openapi/openapiDocument.ts'
import { errorPage } from './reference/errorPage.ts'
import { lifecyclePage } from './reference/lifecyclePage.ts'
import { messagesPage } from './reference/messagesPage.ts'
import { operationPages, type RequestForm } from './reference/operationPage.ts'
import { restPage } from './reference/restPage.ts'
import { settingsPage } from './reference/settingsPage.ts'
import { adaptCode, type Deployment } from './reference/deployment.ts'
import { existsSync, readFileSync, globSync } from 'node:fs'
import { posix } from 'node:path'
import { SERVER_SETTINGS } from '../settings/config.ts'

/** The documents of a deployment that its reference is made from. */
export interface DocsDocuments {
  readonly openapi: OpenapiDocument
  readonly asyncapi: AsyncapiDocument
}

/** A page of the reference: `/docs/<slug>`. */
export interface DocsPage {
  readonly slug: string
  readonly title: string
  readonly section: 'Start' | 'Trade' | 'Reference' | 'Clients' | 'Run it' | 'Project'
  /** One line, for lists of pages. */
  readonly summary: string
  /** Where it is in the repository; a page that is neither there nor made is left out. */
  readonly source: string
  /** Made from this deployment's own documents instead of the file. */
  readonly make?: (documents: DocsDocuments) => string
}

/** The folder of the whole project: the service runs from its repository. */
export const REPOSITORY_ROOT = new URL('../../../../', import.meta.url)

/** The path of the page of decisions, which is no file: its links are those of the files beside it. */
const DECISIONS_SOURCE = 'docs/decisions/index.md'

/** The path of the page of all operations; the pages of single ones have the same links. */
const REST_SOURCE = 'docs/reference/rest.md'

/** Every page, in the order of the navigation. */
export const DOCS_PAGES: readonly DocsPage[] = [
  {
    slug: 'index',
    title: 'Overview',
    section: 'Start',
    summary: 'What Bezel is, and where to start.',
    source: 'docs/README.md',
  },
  {
    slug: 'getting-started',
    title: 'Getting started',
    section: 'Start',
    summary: 'From a clone to a filled order and a closed position, on one machine.',
    source: 'docs/getting-started.md',
  },
  {
    slug: 'api',
    title: 'API guide',
    section: 'Trade',
    summary: 'How the operations fit together: agents, orders, positions, limits, numbers.',
    source: 'docs/api.md',
  },
  {
    slug: 'signing',
    title: 'Signing',
    section: 'Trade',
    summary: 'What is signed and how, with programs for TypeScript and for curl.',
    source: 'docs/signing.md',
  },
  {
    slug: 'stream',
    title: 'The stream',
    section: 'Trade',
    summary: 'The WebSocket: market data, and every event of an account without a gap.',
    source: 'docs/stream.md',
  },
  {
    slug: 'notifications',
    title: 'Notifications',
    section: 'Trade',
    summary: 'What a wallet should know without following a log.',
    source: 'docs/notifications.md',
  },
  {
    slug: 'facade',
    title: 'Exchange facade',
    section: 'Trade',
    summary: "For programs written for Hyperliquid's API: another base URL, and what is different.",
    source: 'docs/facade.md',
  },
  {
    slug: 'rest',
    title: 'REST operations',
    section: 'Reference',
    summary: 'Every operation and every schema, from the OpenAPI document.',
    source: REST_SOURCE,
    make: ({ openapi }) => restPage(openapi, operationFile),
  },
  {
    slug: 'messages',
    title: 'Stream messages',
    section: 'Reference',
    summary: 'Every message of the WebSocket, from the AsyncAPI document.',
    source: 'docs/reference/messages.md',
    make: ({ asyncapi }) => messagesPage(asyncapi),
  },
  {
    slug: 'errors',
    title: 'Errors',
    section: 'Reference',
    summary: 'Every error code, contract error and order reason: cause, remedy, and whether to retry.',
    source: 'docs/reference/errors.md',
    make: () => errorPage(),
  },
  {
    slug: 'order-lifecycle',
    title: 'Order lifecycle',
    section: 'Reference',
    summary: 'The statuses of an order and every move between them, as a diagram and a table.',
    source: 'docs/reference/order-lifecycle.md',
    make: () => lifecyclePage(),
  },
  {
    slug: 'console',
    title: 'The console',
    section: 'Clients',
    summary: 'The page for traders: trade, authorise agents, watch, and cut off. How it is built and served.',
    source: 'docs/console.md',
  },
  {
    slug: 'sdk',
    title: 'TypeScript SDK',
    section: 'Clients',
    summary: 'The typed client, which checks what it signs.',
    source: 'packages/sdk/README.md',
  },
  {
    slug: 'python',
    title: 'Python',
    section: 'Clients',
    summary: 'The typed client for Python, blocking and async, with a bot of 40 lines.',
    source: 'docs/python.md',
  },
  {
    slug: 'cli',
    title: 'Command line',
    section: 'Clients',
    summary: 'Agents, orders and positions from a terminal.',
    source: 'packages/cli/README.md',
  },
  {
    slug: 'requests',
    title: 'Requests from an editor',
    section: 'Clients',
    summary: 'Every operation as a request of an .http file, and the script that signs them.',
    source: 'clients/http/README.md',
  },
  {
    slug: 'switching',
    title: 'Switching to Bezel',
    section: 'Clients',
    summary: "What corresponds to what, for users of the live service's clients and contracts, and of Hyperliquid.",
    source: 'docs/switching.md',
  },
  {
    slug: 'local-chain',
    title: 'The local chain',
    section: 'Run it',
    summary: 'The sandbox that really trades: addresses, accounts, controls.',
    source: 'docs/local-chain.md',
  },
  {
    slug: 'live',
    title: 'Live chains',
    section: 'Run it',
    summary: 'From an empty machine to a service on a live chain, and what is known about each.',
    source: 'docs/live.md',
  },
  {
    slug: 'operations',
    title: 'Operations',
    section: 'Run it',
    summary: 'Probes, metrics, bounds and data, for those who run the service.',
    source: 'docs/operations.md',
  },
  {
    slug: 'settings',
    title: 'Settings',
    section: 'Run it',
    summary: 'Every setting of the service: what it is for, its default, and what is allowed.',
    source: 'docs/reference/settings.md',
    make: () => settingsPage(),
  },
  {
    slug: 'runbooks/redis-lost',
    title: 'Redis lost',
    section: 'Run it',
    summary: 'Runbook: what it costs that Redis is gone, and what to do.',
    source: 'docs/runbooks/redis-lost.md',
  },
  {
    slug: 'runbooks/database-restored',
    title: 'Database restored',
    section: 'Run it',
    summary: 'Runbook: how a back-up is put in place of the database, and what to tell traders.',
    source: 'docs/runbooks/database-restored.md',
  },
  {
    slug: 'threat-model',
    title: 'Threat model',
    section: 'Run it',
    summary: 'What is protected from whom, and what a stolen key, a lying node or a lying feed can and can not do.',
    source: 'docs/threat-model.md',
  },
  {
    slug: 'security',
    title: 'Security',
    section: 'Run it',
    summary: 'How to report a vulnerability, and what to do when a key has leaked.',
    source: 'SECURITY.md',
  },
  {
    slug: 'diamond',
    title: 'The local Diamond',
    section: 'Run it',
    summary: "The sandbox's contracts, and every way in which they differ from the live ones.",
    source: 'contracts/README.md',
  },
  {
    slug: 'architecture',
    title: 'Architecture',
    section: 'Project',
    summary: 'The way of a request, the way of a block, the floors, and where to change what.',
    source: 'docs/architecture.md',
  },
  {
    slug: 'changelog',
    title: 'Changelog',
    section: 'Project',
    summary: 'What works today, and what does not yet.',
    source: 'CHANGELOG.md',
  },
  {
    slug: 'decisions',
    title: 'Decisions',
    section: 'Project',
    summary: 'Why things are as they are.',
    source: DECISIONS_SOURCE,
    make: () => decisionsPage(),
  },
  {
    slug: 'contributing',
    title: 'Contributing',
    section: 'Project',
    summary: 'How to work on Bezel.',
    source: 'CONTRIBUTING.md',
  },
]

/** A page with its text. */
export interface PageText extends DocsPage {
  readonly markdown: string
  /** Slug of the page that this one is a part of; such a page is in no list. */
  readonly parent?: string
  /** Form that sends the operation of the page. */
  readonly form?: RequestForm | undefined
}

export interface ReadPagesOptions {
  readonly documents: DocsDocuments
  readonly deployment: Deployment
}

/** Prefix as the pages are written, which the deployment's own replaces. */
const WRITTEN_PREFIX = SERVER_SETTINGS.BEZEL_HEADER_PREFIX.defaultValue

/** Returns every page that is there, then that of each operation. The overview ends with a list of the others. */
export function readPages({ documents, deployment }: ReadPagesOptions): readonly PageText[] {
  const present = DOCS_PAGES.filter(
    ({ source, make }) => make !== undefined || existsSync(new URL(source, REPOSITORY_ROOT)),
  )
  const pages = present.map((page) => {
    const text = page.make?.(documents) ?? readFileSync(new URL(page.source, REPOSITORY_ROOT), 'utf8')
    // Pages for those who run a service of their own name the prefix that it has by default.
    const named = page.section === 'Run it' ? text : text.replaceAll(WRITTEN_PREFIX, deployment.headerPrefix)
    const own = isAboutDeployment(page, deployment) ? adaptCode(named, deployment) : named
    return { ...page, markdown: page.slug === 'index' ? `${own.trimEnd()}\n\n${listOf(present)}` : own }
  })
  return [...pages, ...operationTexts({ documents, deployment })]
}

/** True for a page whose code is about this deployment; the others are about one that the reader runs. */
function isAboutDeployment({ slug, section }: DocsPage, { isSandbox }: Deployment): boolean {
  if (section === 'Run it' || section === 'Project') return false
  return isSandbox || (slug !== 'index' && slug !== 'getting-started')
}

function operationTexts({ documents, deployment }: ReadPagesOptions): PageText[] {
  return operationPages(documents.openapi, deployment).map(({ operationId, summary, markdown, form }) => ({
    slug: operationSlug(operationId),
    title: operationId,
    section: 'Reference',
    summary,
    source: REST_SOURCE,
    markdown,
    parent: 'rest',
    form,
  }))
}

/** Returns the slug of the page of an operation. */
function operationSlug(operationId: string): string {
  return `rest/${operationId}`
}

/** Returns the path of an operation's page as the page of all operations links to it. There is no such file. */
function operationFile(operationId: string): string {
  return `${operationSlug(operationId)}.md`
}

function listOf(pages: readonly DocsPage[]): string {
  const others = pages.filter(({ slug }) => slug !== 'index')
  const sections = [...Map.groupBy(others, ({ section }) => section)].map(([section, own]) => {
    const lines = own.map(({ title, source, summary }) => `- [${title}](${posix.relative('docs', source)}): ${summary}`)
    return `### ${section}\n\n${lines.join('\n')}`
  })
  return `## All pages\n\n${sections.join('\n\n')}\n`
}

const DECISIONS_HEAD = `# Decisions

What a newcomer would question, and why it is as it is. In the repository each is a file of its own in \`docs/decisions\`.`

/** All decisions in one page, oldest first. */
function decisionsPage(): string {
  const texts = decisionFiles().map((file) => readFileSync(new URL(file, REPOSITORY_ROOT), 'utf8'))
  // Their titles become sections.
  return `${[DECISIONS_HEAD, ...texts.map((text) => text.trim().replace(/^# /, '## '))].join('\n\n')}\n`
}

/** The title of a decision, by its file; `undefined` for any other file. */
export function decisionTitle(file: string): string | undefined {
  if (!decisionFiles().includes(file)) return undefined
  return /^# (.+)$/m.exec(readFileSync(new URL(file, REPOSITORY_ROOT), 'utf8'))?.[1]
}

function decisionFiles(): readonly string[] {
  return globSync('docs/decisions/[0-9]*.md', { cwd: REPOSITORY_ROOT.pathname }).toSorted()
}
