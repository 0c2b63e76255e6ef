import type { AsyncapiDocument } from './asyncapi/createStreamDocument.ts'
import type { OpenapiDocument } from './openapi/createDocument.ts'
import { errorPage } from './openapi/errorPage.ts'
import { DECISIONS_SOURCE, decisionsPage } from './decisionsPage.ts'
import { lifecyclePage } from './reference/lifecyclePage.ts'
import { messagesPage } from './reference/messagesPage.ts'
import { restPage } from './reference/restPage.ts'

/** What the reference of a deployment is made from. */
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
    source: 'docs/reference/rest.md',
    make: ({ openapi }) => restPage(openapi),
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
    summary: 'Every error code: when it comes, and whether to retry.',
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
    slug: 'sdk',
    title: 'TypeScript SDK',
    section: 'Clients',
    summary: 'The typed client, which checks what it signs.',
    source: 'packages/sdk/README.md',
  },
  {
    slug: 'cli',
    title: 'Command line',
    section: 'Clients',
    summary: 'Agents, orders and positions from a terminal.',
    source: 'packages/cli/README.md',
  },
  {
    slug: 'local-chain',
    title: 'The local chain',
    section: 'Run it',
    summary: 'The sandbox that really trades: addresses, accounts, controls.',
    source: 'docs/local-chain.md',
  },
  {
    slug: 'operations',
    title: 'Operations',
    section: 'Run it',
    summary: 'Probes, metrics, settings and data, for those who run the service.',
    source: 'docs/operations.md',
  },
  {
    slug: 'diamond',
    title: 'The local Diamond',
    section: 'Run it',
    summary: "The sandbox's contracts, and every way in which they differ from the live ones.",
    source: 'contracts/README.md',
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
