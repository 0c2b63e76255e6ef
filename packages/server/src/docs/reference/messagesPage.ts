import type { AsyncapiDocument, AsyncapiMessage } from '../asyncapi/createStreamDocument.ts'
import { table } from '../markdown/writeMarkdown.ts'
import { refName, type Ref } from '../openapi/openapiDocument.ts'
import { fieldTable } from './schemaText.ts'

/** Headings by the beginning of a message's id, which tells the sender. */
const KINDS = { client: 'What a client says', control: 'What the service answers', data: 'Data' } as const

/** The page that describes the named schemas. */
const SCHEMAS_PAGE = 'rest.md'

/** Returns docs/reference/messages.md: every message of the WebSocket. */
export function messagesPage(document: AsyncapiDocument): string {
  const messages = Object.entries(document.components.messages)
  const channels = Object.entries(document.channels)
  const parts = [
    '# Stream messages',
    'Made from [asyncapi.json](asyncapi.json), which is made from the schemas that the service itself checks. How a client uses them is in [The stream](../stream.md).',
    table(
      ['Channel', 'Address', ''],
      channels.map(([id, { address, title }]) => [`\`${id}\``, `\`WS ${address}\``, title]),
    ),
    document.info.description,
    '## Operations',
    operationTable(document.operations),
    ...Object.entries(KINDS).flatMap(([kind, title]) => [
      `## ${title}`,
      ...messages.filter(([id]) => id.startsWith(kind)).map(([id, message]) => messageSection(id, message)),
    ]),
  ]
  return `${parts.join('\n\n')}\n`
}

function operationTable(operations: AsyncapiDocument['operations']): string {
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

function messageSection(id: string, { summary, payload, examples }: AsyncapiMessage): string {
  const lines = examples.map(({ payload: example }) => JSON.stringify(example))
  return [
    `### ${id}`,
    `${summary}.`,
    fieldTable(payload, SCHEMAS_PAGE),
    `\`\`\`json\n${lines.join('\n')}\n\`\`\``,
  ].join('\n\n')
}
