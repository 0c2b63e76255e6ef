import type { AsyncapiDocument } from '../asyncapi/createStreamDocument.ts'
import { table } from '../markdown/table.ts'
import { fieldTable } from './fieldTable.ts'
import { refName } from './refName.ts'
import type { Schema } from './schema.ts'

interface Message {
  readonly name: string
  readonly summary: string
  readonly payload: Schema
  readonly examples: readonly { readonly payload: unknown }[]
}

interface Ref {
  readonly $ref: string
}

interface Operation {
  readonly action: 'receive' | 'send'
  readonly summary: string
  readonly security?: readonly unknown[]
  readonly messages: readonly Ref[]
  readonly reply?: { readonly messages: readonly Ref[] }
}

interface Channel {
  readonly address: string
  readonly title: string
}

/** By the beginning of a message's id: who says it. */
const KINDS = { client: 'What a client says', control: 'What the service answers', data: 'Data' } as const

/** Where named schemas are told. */
const SCHEMAS_PAGE = 'rest.md'

/** docs/reference/messages.md: every message of the WebSocket. */
export function messagesPage(document: AsyncapiDocument): string {
  const messages = Object.entries(document.components.messages as unknown as Readonly<Record<string, Message>>)
  const channels = Object.entries(document.channels as unknown as Readonly<Record<string, Channel>>)
  const parts = [
    '# Stream messages',
    'Made from [asyncapi.json](asyncapi.json), which is made from the schemas that the service itself checks. How a client uses them is in [The stream](../stream.md).',
    table(
      ['Channel', 'Address', ''],
      channels.map(([id, { address, title }]) => [`\`${id}\``, `\`WS ${address}\``, title]),
    ),
    String(document.info.description),
    '## Operations',
    operationTable(document.operations as unknown as Readonly<Record<string, Operation>>),
    ...Object.entries(KINDS).flatMap(([kind, title]) => [
      `## ${title}`,
      ...messages.filter(([id]) => id.startsWith(kind)).map(([id, message]) => messageSection(id, message)),
    ]),
  ]
  return `${parts.join('\n\n')}\n`
}

function operationTable(operations: Readonly<Record<string, Operation>>): string {
  const rows = Object.entries(operations).map(([id, { action, summary, security, messages, reply }]) => [
    `\`${id}\``,
    `${summary}${security === undefined ? '' : ' (needs credentials)'}`,
    `${action === 'send' ? 'the service' : 'the client'}: ${linksTo(messages)}`,
    reply === undefined ? '' : linksTo(reply.messages),
  ])
  return table(['Operation', '', 'Says', 'Answered by'], rows)
}

function linksTo(refs: readonly Ref[]): string {
  return refs.map(({ $ref }) => `[${refName($ref)}](#${refName($ref).toLowerCase()})`).join(', ')
}

function messageSection(id: string, { summary, payload, examples }: Message): string {
  const lines = examples.map(({ payload: example }) => JSON.stringify(example))
  return [
    `### ${id}`,
    `${summary}.`,
    fieldTable(payload, SCHEMAS_PAGE),
    `\`\`\`json\n${lines.join('\n')}\n\`\`\``,
  ].join('\n\n')
}
